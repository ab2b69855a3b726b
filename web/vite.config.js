import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig } from 'vite';

const QUALITY = constants.BROTLI_PARAM_QUALITY;
/** The best quality takes ten times as long for 3 %. */
const BROTLI_QUALITY = 9;
const COMPRESSIBLE = /\.(js|css|html|svg)$/;

/** Writes compressed copies beside the files, so that the backend compresses nothing while it serves. */
const compressedCopies = {
  name: 'compressed-copies',
  writeBundle({ dir }) {
    for (const name of readdirSync(dir, { recursive: true })) {
      if (!COMPRESSIBLE.test(name)) continue;
      const content = readFileSync(join(dir, name));
      writeFileSync(join(dir, `${name}.gz`), gzipSync(content, { level: 9 }));
      writeFileSync(join(dir, `${name}.br`), brotliCompressSync(content, { params: { [QUALITY]: BROTLI_QUALITY } }));
    }
  },
};

/** Builds the dashboard into `dist/web`. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    rolldownOptions: {
      input: ['index.html', 'bridge.html'].map((page) => fileURLToPath(new URL(page, import.meta.url))),
    },
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    // The first versions with `light-dark()`.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  plugins: [compressedCopies],
});
