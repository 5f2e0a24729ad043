import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { dirname, join } from 'node:path';
import { defineConfig } from 'vite';

/** The client as static files below `dist`: names of assets change with their content, nothing is loaded from elsewhere. */
export default defineConfig({
  root: join(dirname(import.meta.dirname), 'packages', 'web'),
  plugins: [react(), tailwindcss()],
  build: { target: 'es2024', assetsInlineLimit: 0, modulePreload: { polyfill: false }, reportCompressedSize: false },
  logLevel: 'warn',
});
