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
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/testing/setup.ts'],
    restoreMocks: true,
  },
});
