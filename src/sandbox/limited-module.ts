import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule, RELEASE_SYNC } from 'quickjs-emscripten';

/** Node.js has it, and the types of Node.js lack it. */
declare const WebAssembly: { Memory: new (limits: { initial: number; maximum: number }) => object };

const PAGE_BYTES = 64 * 1024;
/** What the module needs when it starts. */
const INITIAL_PAGES = 256;
/**
 * Limit of the memory of all programs of a thread, and of what they left. QuickJS itself counts blocks of a few MB with their
 * headers only.
 */
export const MAX_MODULE_BYTES = 128 * 1024 * 1024;

/** Loads QuickJS with a memory of its own, which is limited. It never shrinks. */
export function loadQuickJs(): Promise<QuickJSWASMModule> {
  const wasmMemory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: MAX_MODULE_BYTES / PAGE_BYTES });
  return newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmMemory }));
}
