import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

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
      // What draws nothing shares one page: a page of its own would take longer than its tests do.
      { extends: true, test: { name: 'words', pool: 'threads', isolate: false, include: ['src/**/*.test.ts'] } },
      // What draws gets a page of its own: where files shared one, now and then a change was looked at before it was drawn.
      { extends: true, test: { name: 'pages', include: ['src/**/*.test.tsx'] } },
    ],
  },
});
