import js from '@eslint/js';
import reactHooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const features = ['canvas', 'cluster', 'compare', 'control', 'explain', 'fork', 'gallery', 'inspector', 'items', 'library', 'palette', 'problems', 'run', 'timeline', 'waits'];

const onlyTheBridgeTalks = {
  patterns: [{ group: ['@tauri-apps/*'], message: 'Only src/bridge talks to the backend.' }],
};

/** Features know state, bridge and shared; what two of them need belongs into one of those. */
const neighboursOf = (feature) => ({
  files: [`src/${feature}/**/*.{ts,tsx}`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          ...onlyTheBridgeTalks.patterns,
          {
            group: features.filter((other) => other !== feature).map((other) => `**/${other}/**`),
            message: 'Features do not import one another.',
          },
        ],
      },
    ],
  },
});

export default tseslint.config(
  { ignores: ['dist', 'node_modules', 'src/generated'] },
  js.configs.recommended,
  ...tseslint.configs.strict,
  reactHooks.configs.flat.recommended,
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/bridge/**'],
    rules: {
      'no-restricted-imports': ['error', onlyTheBridgeTalks],
      'no-restricted-globals': [
        'error',
        { name: 'fetch', message: 'Only src/bridge talks to the backend.' },
        { name: 'EventSource', message: 'Only src/bridge talks to the backend.' },
        { name: 'WebSocket', message: 'Only src/bridge talks to the backend.' },
        { name: 'XMLHttpRequest', message: 'Only src/bridge talks to the backend.' },
      ],
    },
  },
  ...features.map(neighboursOf),
  {
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Text is rendered as text.' },
      ],
    },
  },
);
