import { render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { ObservedMark } from './ObservedMark';

const SEEN = { cluster: 'production', dialect: 'rune' as const, joined_late: false, gaps: [] };

describe('ObservedMark', () => {
  it('says where, and nothing else where all was seen', () => {
    render(<ObservedMark observed={SEEN} />);
    expect(screen.getByText('production').textContent).toBe('Seen on production');
    expect(screen.queryByText('joined late')).toBeNull();
    expect(screen.queryByText(/gap/)).toBeNull();
  });

  it('says that it had begun before, and how often something went by unseen', () => {
    const gap = { from: 0, until: 1_000, dropped: 3, why: 'too much at once' };
    render(<ObservedMark observed={{ ...SEEN, joined_late: true, gaps: [gap, { ...gap, from: 60_000, until: 61_000 }] }} />);
    expect(screen.getByText('joined late').title).toMatch(/begun before/);
    expect(screen.getByText('2 gaps').title).toMatch(/3 messages were not seen: too much at once\n/);
  });
});
