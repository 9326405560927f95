import { describe, expect, it } from 'vitest';
import { detail, nodeView, recording } from '../testing/fixtures';
import { parseRecording } from './recording';

/** A sound recording with one place changed. */
function broken(change: (value: { start: object }) => void): string {
  const value = JSON.parse(JSON.stringify(recording())) as { start: object };
  change(value);
  return JSON.stringify(value);
}

describe('parseRecording', () => {
  it('takes a sound one', () => {
    expect(parseRecording(JSON.stringify(recording()), 'a.json')).toEqual(recording());
  });

  it('takes one in which nodes wait', () => {
    const waiting = recording();
    waiting.start.nodes = {
      a: nodeView('waiting_timer', { due: 5_000 }),
      b: nodeView('waiting_barrier', { progress: { arrived: 1, expected: 2 } }),
    };
    expect(parseRecording(JSON.stringify(waiting), 'a.json')).toEqual(waiting);
  });

  it('takes one of an earlier host, where nothing was tried again', () => {
    const earlier = JSON.stringify(recording(), (key, value: unknown) => (['retrying', 'ignored', 'failures'].includes(key) ? undefined : value));
    expect(earlier).not.toContain('retrying');
    expect(parseRecording(earlier, 'a.json')).toEqual(recording());
  });

  it.each([
    ['attempts in words', broken((value) => Object.assign(value, { details: { a: { execution_id: 'x', node_id: 'a', total: 1, firings: [{ ...detail('a', 1).firings[0], failures: ['oops'] }] } } })), '“details.a.firings[0].failures[0]” should be an object'],
    ['no JSON', 'hello', 'is not JSON'],
    ['an empty file', '', 'is not JSON'],
    ['another format', '{"format": "har"}', 'its “format” is not'],
    ['a list', '[]', 'should be an object'],
    ['null', 'null', 'should be an object'],
    ['a newer version', broken((value) => Object.assign(value, { version: 2 })), 'version 2'],
    ['patches missing', broken((value) => Object.assign(value, { patches: undefined })), '“patches” should be a list'],
    ['a wrong state', broken((value) => Object.assign(value.start, { nodes: { a: { state: '<img>' } } })), '“start.nodes.a.state” should be one of'],
    ['progress in words', broken((value) => Object.assign(value.start, { nodes: { a: nodeView('running', { progress: 'half' as never }) } })), '“start.nodes.a.progress” should be an object'],
    ['an id that is no text', broken((value) => Object.assign(value.start, { definition: { nodes: [{ id: {}, type: 'log', parameters: {} }], edges: [] } })), '“start.definition.nodes[0].id” should be a text'],
    ['endless times', broken((value) => Object.assign(value, { patches: [{ at: null }] })), '“patches[0].at” should be a number'],
    ['a nested bomb', `{"format": "runeglass-recording", "version": 1, "start": ${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 'should be an object'],
  ])('refuses %s', (_, text, complaint) => {
    expect(() => parseRecording(text, 'a.json')).toThrow(complaint);
  });
});
