/** The colours a cluster may have. Each has a name, because a colour alone tells not everybody something. */
export const CLUSTER_COLOURS = ['red', 'orange', 'green', 'blue', 'purple', 'grey'] as const;

export type ClusterColour = (typeof CLUSTER_COLOURS)[number];

export const COLOUR_NAMES: { [K in ClusterColour]: string } = {
  red: 'Red',
  orange: 'Orange',
  green: 'Green',
  blue: 'Blue',
  purple: 'Purple',
  grey: 'Grey',
};

/** A connection made in a terminal has none. */
export function colourOf(colour: string): ClusterColour {
  return CLUSTER_COLOURS.find((each) => each === colour) ?? 'grey';
}
