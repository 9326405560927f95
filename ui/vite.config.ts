import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const TESTS = ['src/**/*.test.{ts,tsx}'];
/** They put another module in the place of ours, which nobody else must get. */
const APART = ['src/cluster/AttachDialog.test.tsx', 'src/cluster/cluster.test.tsx', 'src/fork/ForkDialog.test.tsx'];

export default defineConfig({
  // Relative, so that the same build is served by the loopback host and by Tauri's own protocol.
  base: './',
  plugins: [react()],
  build: {
    target: 'es2022',
    // Nothing is turned into data: URLs, because the content security policy only allows files of our own.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2_000,
  },
  test: {
    environment: 'happy-dom',
    setupFiles: ['src/testing/setup.ts'],
    restoreMocks: true,
    projects: [
      // A page and its modules for every file would take longer than all the tests do, so files share them: the setup puts
      // back what is common to all.
      { extends: true, test: { name: 'shared', pool: 'threads', isolate: false, include: TESTS, exclude: APART } },
      { extends: true, test: { name: 'apart', include: APART } },
    ],
  },
});
