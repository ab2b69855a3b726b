const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ''));

/** Functions that may be called by their name alone. */
export const PURE_FUNCTIONS = words(`
  hour minute second weekday seconds_since parseInt parseFloat isNaN isFinite String Number Boolean
`);

/** Functions of built-in objects without effects. */
export const PURE_STATIC = new Map([
  ['Math', words('abs ceil floor max min pow round sign sqrt trunc log random')],
  ['JSON', words('stringify parse')],
  ['Object', words('keys values entries')],
  ['Array', words('isArray')],
  ['Number', words('isInteger isFinite isNaN parseFloat parseInt')],
  ['Date', words('now parse UTC')],
]);

/** Constructors of objects that belong to one evaluation. */
export const PURE_CONSTRUCTORS = words('Date RegExp');

/** Methods that change neither their receiver nor anything else that outlives the evaluation. */
export const PURE_METHODS = words(`
  at charAt charCodeAt codePointAt concat endsWith entries every exec filter find findIndex findLast flat flatMap
  forEach getDate getDay getFullYear getHours getMinutes getMonth getSeconds getTime getUTCDate getUTCDay
  getUTCFullYear getUTCHours getUTCMinutes getUTCMonth getUTCSeconds hasOwnProperty includes indexOf join keys
  lastIndexOf localeCompare map match padEnd padStart reduce reduceRight repeat replace replaceAll search slice some
  split startsWith substr substring test toFixed toISOString toLowerCase toPrecision toString toUpperCase trim trimEnd
  trimStart valueOf values
`);

/** Members through which an expression could reach built-in objects that outlive the evaluation. */
export const IMPURE_MEMBERS = words(`
  constructor prototype __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__ call apply bind
  caller callee arguments
`);

/** Operators whose result is a number, so that it names no member but an index. */
export const NUMERIC_OPERATORS = words('- * / % & | ^ << >> >>>');
