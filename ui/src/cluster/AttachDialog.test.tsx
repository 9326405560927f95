import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ProblemError } from '../bridge/bridge';
import type { ClusterConnection } from '../generated/protocol';
import * as actions from '../state/actions';
import { showAttach, useStore } from '../state/store';
import { AttachDialog } from './AttachDialog';

vi.mock('../state/actions', () => ({
  attachTo: vi.fn(),
  forgetConnection: vi.fn(),
  keepConnection: vi.fn(),
  keptConnections: vi.fn(),
  testConnection: vi.fn(),
}));

const SHOP: ClusterConnection = { name: 'shop', colour: 'red', amqp: 'amqp://u@h/%2f', redis: 'redis://h', prefix: '', dialect: null };

async function open(saved: ClusterConnection[] = []): Promise<void> {
  vi.mocked(actions.keptConnections).mockResolvedValue(saved);
  if (!vi.mocked(actions.attachTo).getMockImplementation()) vi.mocked(actions.attachTo).mockResolvedValue(true);
  showAttach(true);
  render(<AttachDialog />);
  await waitFor(() => expect(actions.keptConnections).toHaveBeenCalled());
}

function write(label: string, value: string): void {
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
}

function fill(): void {
  write('Name', 'shop');
  write('RabbitMQ', 'amqp://u:hunter2@h/%2f');
  fireEvent.blur(screen.getByLabelText('RabbitMQ'));
  write('Redis', 'redis://h');
}

beforeEach(() => {
  vi.resetAllMocks();
});

describe('AttachDialog', () => {
  it('attaches, remembers, and closes', async () => {
    await open();
    fill();
    fireEvent.click(screen.getByTestId('attach-now'));
    await waitFor(() => expect(actions.keepConnection).toHaveBeenCalled());
    expect(actions.attachTo).toHaveBeenCalledWith({ ...SHOP, colour: 'blue' }, { amqp: 'hunter2' }, false, expect.any(Function));
    await waitFor(() => expect(useStore.getState().attaching).toBe(false));
  });

  it('moves a password out of sight', async () => {
    await open();
    fill();
    expect(screen.getByLabelText<HTMLInputElement>('RabbitMQ').value).toBe('amqp://u@h/%2f');
    const secret = screen.getByLabelText<HTMLInputElement>('RabbitMQ password');
    expect([secret.type, secret.value]).toEqual(['password', 'hunter2']);
  });

  it('tells every step of a test', async () => {
    const problem = { code: 'infrastructure' as const, message: 'Redis refuses the password', hint: 'check the password' };
    vi.mocked(actions.testConnection).mockResolvedValue([
      { what: 'RabbitMQ lets us in', problem: null },
      { what: 'Redis lets us in', problem },
    ]);
    await open();
    fill();
    fireEvent.click(screen.getByTestId('attach-test'));
    const steps = await screen.findByRole('list', { name: 'Steps' });
    expect([...steps.children].map((step) => step.textContent)).toEqual([
      'RabbitMQ lets us in.',
      'Redis refuses the password. Check the password.',
    ]);
  });

  it('says after a test that one server which is away keeps nobody out', async () => {
    const away = { code: 'unreachable' as const, message: 'nobody listens at the address of Redis', hint: 'check host and port' };
    const refused = { ...away, code: 'refused' as const };
    const good = { what: 'RabbitMQ lets us in', problem: null };
    for (const [steps, expected] of [
      [[good, { what: 'Redis lets us in', problem: away }], true],
      [[good, { what: 'Redis lets us in', problem: refused }], false],
      [[{ ...good, problem: away }, { what: 'Redis lets us in', problem: away }], false],
      [[{ ...good, problem: refused }, { what: 'Redis lets us in', problem: away }], false],
    ] as const) {
      vi.mocked(actions.testConnection).mockResolvedValue([...steps]);
      await open();
      fill();
      fireEvent.click(screen.getByTestId('attach-test'));
      await screen.findByRole('list', { name: 'Steps' });
      expect(screen.queryByText(/You can attach all the same/) !== null).toBe(expected);
      cleanup();
    }
  });

  it('stays open and says in one sentence why it was refused', async () => {
    vi.mocked(actions.attachTo).mockRejectedValue(new ProblemError({ code: 'infrastructure', message: 'RabbitMQ refuses the password', hint: '' }));
    await open();
    fill();
    fireEvent.click(screen.getByTestId('attach-now'));
    await waitFor(() => expect(screen.getByTestId('attach-steps').textContent).toBe('RabbitMQ refuses the password.'));
    expect(actions.keepConnection).not.toHaveBeenCalled();
    expect(useStore.getState().attaching).toBe(true);
  });

  it('is withdrawn by closing it: nothing is saved, whatever comes of it', async () => {
    for (const outcome of ['attached', 'refused'] as const) {
      vi.mocked(actions.attachTo).mockReset();
      let settle = (): void => undefined;
      let wanted = (): boolean => true;
      vi.mocked(actions.attachTo).mockImplementation((_connection, _passwords, _record, stillWanted) => {
        wanted = stillWanted;
        return new Promise((resolve, reject) => {
          settle = () => (outcome === 'attached' ? resolve(stillWanted()) : reject(new Error('refused')));
        });
      });
      await open();
      fill();
      fireEvent.click(screen.getByTestId('attach-now'));
      await waitFor(() => expect(actions.attachTo).toHaveBeenCalled());
      expect(wanted()).toBe(true);
      fireEvent.click(screen.getByText('Cancel'));
      await waitFor(() => expect(useStore.getState().attaching).toBe(false));
      expect(wanted()).toBe(false);
      settle();
      await new Promise((resolve) => setTimeout(resolve));
      expect(actions.keepConnection).not.toHaveBeenCalled();
      expect(useStore.getState().toasts).toEqual([]);
      cleanup();
    }
  });

  it('says where a password comes from only where it does', async () => {
    await open([SHOP]);
    const secrets = (): string[] => ['RabbitMQ password', 'Redis password'].map((label) => screen.getByLabelText<HTMLInputElement>(label).placeholder);
    await waitFor(() => expect(secrets()).toEqual(['from the keyring, if kept', 'from the keyring, if kept']));
    write('RabbitMQ', 'amqp://other@h/%2f');
    expect(secrets()).toEqual(['none', 'from the keyring, if kept']);
    write('RabbitMQ', 'amqp://u@H:5672/shop');
    expect(secrets()[0]).toBe('from the keyring, if kept');
    write('Name', 'another');
    expect(secrets()).toEqual(['none', 'none']);
  });

  it('leads to the field that is missing', async () => {
    await open();
    write('Name', 'shop');
    fireEvent.click(screen.getByTestId('attach-now'));
    expect(document.activeElement).toBe(screen.getByLabelText('RabbitMQ'));
    expect(actions.attachTo).not.toHaveBeenCalled();
  });

  it('begins with the first saved connection, and forgets it when asked', async () => {
    await open([SHOP]);
    await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>('Name').value).toBe('shop'));
    expect(screen.getByText('Colour: Red')).toBeTruthy();
    vi.mocked(actions.keptConnections).mockResolvedValue([]);
    fireEvent.click(screen.getByLabelText('Forget shop and its passwords'));
    await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>('Name').value).toBe(''));
    expect(actions.forgetConnection).toHaveBeenCalledWith('shop');
  });
});
