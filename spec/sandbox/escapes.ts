/**
 * Expressions that return something of the host if they reach it. They are variants of published escapes from sandboxes
 * that share a heap with their host: constructors, errors and their stacks, prototypes, proxies, symbols, iterators,
 * promises and inspection hooks.
 */
export const ESCAPES: readonly string[] = [
  // Constructors of reachable values.
  'this.constructor.constructor("return typeof process === \'object\' && process")()',
  'event.constructor.constructor("return process")()',
  'event.check.handlers.constructor.constructor("return process.mainModule")()',
  'hour.constructor("return process")()',
  'console.log.constructor("return globalThis.process")()',
  'sensu.constructor.constructor("return require")()',
  '(function () {}).constructor("return this.process")()',
  '(async function () {}).constructor("return process")().then && false',
  '(function* () {}).constructor("return process")().next().value',
  '(async function* () {}).constructor("return process")() && typeof process === "object"',
  'Reflect.construct(Function, ["return process"])()',
  'Function.prototype.call.call(Function, null, "return process")()',
  '(0, eval)("typeof process === \'object\' && process")',
  'new (Object.getPrototypeOf(hour).constructor)("return require")()',
  // Errors that the host might make.
  'try { null.f(); } catch (e) { e.constructor.constructor("return process")(); }',
  'try { (function f() { f(); })(); } catch (e) { e.constructor.constructor("return process")(); }',
  'try { new Array(-1); } catch (e) { e.constructor.constructor("return process")(); }',
  'try { JSON.parse("{"); } catch (e) { e.constructor.constructor("return process")(); }',
  'try { decodeURIComponent("%"); } catch (e) { e.constructor.constructor("return process")(); }',
  'Error.prepareStackTrace = function (e, frames) { return frames; }; var s = new Error().stack; typeof s === "object" && s[0].getThis()',
  'Error.captureStackTrace && Error.captureStackTrace({}) && process',
  'var e = new Error(); e.name = Symbol(); try { e + ""; } catch (x) { x.constructor.constructor("return process")(); }',
  // Proxies and traps.
  'new Proxy({}, { get: function (t, k, r) { return r.constructor.constructor("return process")(); } }).x',
  'new Proxy(function () {}, { apply: function (t, self, args) { return args.constructor.constructor("return process")(); } })()',
  'new Proxy(event, { getPrototypeOf: function () { return Function.prototype; } }) instanceof Function && process',
  'Proxy.revocable({}, {}).proxy.constructor.constructor("return process")()',
  // Prototypes that the host might use.
  'Object.prototype.get = function () { return process; }; Object.defineProperty({}, "x", {}) && false',
  'Array.prototype.map = function () { return process; }; [].map()',
  'String.prototype.slice = function () { return process; }; "x".slice()',
  'Object.prototype.toJSON = function () { return typeof process === "object" ? process : undefined; }; JSON.stringify({})',
  'Object.prototype.then = function (resolve) { resolve(process); }; false',
  'Function.prototype.toString = function () { return process; }; hour + ""',
  'RegExp.prototype.exec = function () { return process; }; /x/.test("x")',
  'Symbol.prototype[Symbol.toPrimitive] = function () { return process; }; Symbol() + ""',
  // Well-known hooks of Node.js.
  'Symbol.for("nodejs.util.inspect.custom") in event && process',
  'var o = {}; o[Symbol.for("nodejs.util.inspect.custom")] = function (d, options) { return options.constructor.constructor("return process")(); }; console.log(o)',
  'var o = { toString: function () { return process; } }; console.log(o)',
  'var o = { get stack() { return process; } }; throw o',
  // Loading of code.
  'import("node:fs").then(function (fs) { return fs; }) && typeof fs === "object"',
  'import.meta.url',
  'require("child_process")',
  'module.constructor._load("fs")',
  'globalThis.process || globalThis.require || globalThis.module || globalThis.Buffer || globalThis.WebAssembly',
  'globalThis.setTimeout || globalThis.setInterval || globalThis.queueMicrotask || globalThis.fetch || globalThis.postMessage',
  'globalThis.SharedArrayBuffer && new SharedArrayBuffer(1).constructor.constructor("return process")()',
  'new WeakRef(event).deref().constructor.constructor("return process")()',
  'Promise.resolve().constructor.constructor("return process")()',
  '[].values().constructor && Object.getPrototypeOf(Object.getPrototypeOf([].values())).constructor("return process")()',
  'with (new Proxy({}, { has: function () { return true; }, get: function (t, k) { return k === Symbol.unscopables ? undefined : Function("return process")(); } })) { process }',
  'Object.getOwnPropertyNames(this).some(function (name) { return /^(process|require|module|Buffer|quickjs|HEAP|Module)/.test(name); })',
];
