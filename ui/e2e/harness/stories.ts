/** Workflows that more than one file of tests runs. */
const node = (id: string, type: string, name: string, parameters: object = {}): object => ({ id, type, name, parameters });

/** Item 37 rests for a while; one branch of the merge does too. */
export const STUCK = {
  name: 'Stuck on one',
  description: 'A hundred parcels are weighed; one of them lies at the customs, and everything waits for it.',
  nodes: [
    node('start', 'trigger', 'Start'),
    node('each', 'split', 'Each parcel', { input_array: '{{ Array.from({ length: 100 }, (_, index) => index) }}' }),
    node('odd', 'conditional', 'Is it 37?', { expression: '$item === 37', true_edge_id: 'yes', false_edge_id: 'no' }),
    node('rest', 'wait', 'Customs', { mode: 'interval', amount: 600, unit: 'seconds' }),
    node('weigh', 'log', 'Weigh it', { message: '$item' }),
    node('all', 'aggregator', 'All parcels'),
    node('label', 'log', 'Print the label', { message: 'label' }),
    node('both', 'merge', 'Ready to ship'),
  ],
  edges: [
    { id: 'a', src: 'start', dst: 'each' },
    { id: 'b', src: 'each', dst: 'odd' },
    { id: 'yes', src: 'odd', dst: 'rest', label: 'yes' },
    { id: 'no', src: 'odd', dst: 'weigh', label: 'no' },
    { id: 'c', src: 'rest', dst: 'all' },
    { id: 'd', src: 'weigh', dst: 'all' },
    { id: 'e', src: 'start', dst: 'label' },
    { id: 'f', src: 'all', dst: 'both' },
    { id: 'g', src: 'label', dst: 'both' },
  ],
};

/** Ten thousand items; a few fail in two ways. */
export const DIAMONDS = {
  name: 'Ten thousand stones',
  description: 'Ten thousand stones are looked at one by one; some are lost, and some are no stones at all.',
  nodes: [
    node('start', 'trigger', 'The new bag'),
    node('each', 'split', 'Each stone', { input_array: '{{ Array.from({ length: 10000 }, (_, index) => index) }}' }),
    node('check', 'simulate', 'Look at it', { latency_ms: 50, jitter_ms: 700, output: '{{ $item % 1700 === 37 ? missing.stone : $item % 2300 === 61 ? null.weight : $item }}' }),
    node('gather', 'aggregator', 'All of them'),
    node('report', 'log', 'Report', { message: '{{ $gather.length }} stones' }),
  ],
  edges: [
    { id: 'a', src: 'start', dst: 'each' },
    { id: 'b', src: 'each', dst: 'check' },
    { id: 'c', src: 'check', dst: 'gather' },
    { id: 'd', src: 'gather', dst: 'report' },
  ],
};

/** Ten parcels, each weighed and labelled, and all of them loaded. */
export const PARCELS = {
  name: 'Ten parcels',
  description: 'Ten parcels are weighed and labelled one by one, and loaded together.',
  sample_input: Array.from({ length: 10 }, (_, n) => ({ n })),
  nodes: [
    node('start', 'trigger', 'The van is here'),
    node('each', 'split', 'Each parcel', { input_array: '$trigger' }),
    node('weigh', 'simulate', 'Weigh it', { output: { n: '$item.n', grams: '{{ $item.n * 100 }}' } }),
    node('label', 'simulate', 'Print the label', { output: { n: '$weigh.n', text: 'parcel $weigh.n, $weigh.grams g' } }),
    node('all', 'aggregator', 'All parcels'),
    node('say', 'log', 'Drive off', { message: '{{ $all.length }} parcels' }),
  ],
  edges: [
    { id: 'in', src: 'start', dst: 'each' },
    { id: 'one', src: 'each', dst: 'weigh' },
    { id: 'two', src: 'weigh', dst: 'label' },
    { id: 'three', src: 'label', dst: 'all' },
    { id: 'out', src: 'all', dst: 'say' },
  ],
};

/** One thing after the other: something that rests for three days, and something that may fail. */
export const PATIENT = {
  name: 'Three days',
  description: 'Rests for three days, then asks; whatever goes wrong is said.',
  nodes: [
    node('start', 'trigger', 'Start'),
    node('rest', 'wait', 'Three days', { mode: 'interval', amount: 259_200, unit: 'seconds' }),
    { ...(node('ask', 'simulate', 'Ask for it', { output: { answer: 42 } }) as object), error: { type: 'branch', error_edge: 'sorry' } },
    node('thanks', 'log', 'Say thanks', { message: 'thanks for $ask.answer' }),
    node('oops', 'log', 'Say sorry', { message: 'sorry' }),
  ],
  edges: [
    { id: 'a', src: 'start', dst: 'rest' },
    { id: 'b', src: 'rest', dst: 'ask' },
    { id: 'c', src: 'ask', dst: 'thanks' },
    { id: 'sorry', src: 'ask', dst: 'oops' },
  ],
};

/** Parcels of half a second each, for a cluster. */
export const weighed = (items: number): object => ({
  name: 'Parcels of the day',
  nodes: [
    node('start', 'trigger', 'The van is here'),
    node('each', 'split', 'Each parcel', { input_array: '$trigger.items' }),
    node('weigh', 'simulate', 'Weigh it', { latency_ms: 500, output: '$item' }),
    node('all', 'aggregator', 'All parcels'),
  ],
  edges: [
    { id: 'a', src: 'start', dst: 'each' },
    { id: 'b', src: 'each', dst: 'weigh' },
    { id: 'c', src: 'weigh', dst: 'all' },
  ],
  sample_input: { items: Array.from({ length: items }, (_, index) => index) },
});
