import { MAX_VALUE_CHARACTERS } from './described-value.ts';
import { LIST_KEY, OTHERS_KEY } from './lookups.ts';

/** The limit of what the programs of one filter or mutator write to the console, in characters. */
const MAX_CONSOLE_CHARACTERS = 1024;
/** The calls of `FetchEvent` and `ListEvents` by one expression or mutator. A further call throws. */
const MAX_LOOKUP_CALLS = 100;
/** No name is longer. */
const MAX_NAME_CHARACTERS = 600;

/**
 * Functions available to programs. Source: spec/04 2.7, "Variables and functions". Returns functions for the host, which
 * keep the built-in functions that they need, because a program may replace these.
 */
export const PRELUDE = `
(function (global) {
  var parse = JSON.parse, stringify = JSON.stringify, text = String, now = 0, written = '', given;
  var ErrorOf = Error, define = Object.defineProperty, found = {}, wanted = '', calls = 0;
  var has = Function.prototype.call.bind(Object.prototype.hasOwnProperty);
  var slice = Function.prototype.call.bind(String.prototype.slice);
  var isArray = Array.isArray, isFinite = global.isFinite, trunc = Math.trunc, DateOf = Date;
  function seconds(ts) { return typeof ts === 'number' && isFinite(ts) ? trunc(ts) : 0; }
  function utc(name) {
    return function (ts) { return new DateOf(seconds(ts) * 1000)[name](); };
  }
  global.hour = utc('getUTCHours');
  global.minute = utc('getUTCMinutes');
  global.second = utc('getUTCSeconds');
  global.weekday = utc('getUTCDay');
  global.seconds_since = function (ts) { return arguments.length === 0 ? 0 : now - seconds(ts); };
  function write(value) {
    return typeof value === 'string' ? value : typeof value === 'object' ? stringify(value) : text(value);
  }
  function log() {
    var line = '';
    for (var i = 0; i < arguments.length && line.length < ${MAX_CONSOLE_CHARACTERS}; i += 1) {
      line += (i === 0 ? '' : ' ') + write(arguments[i]);
    }
    written = slice(written + line + '\\n', 0, ${MAX_CONSOLE_CHARACTERS});
  }
  function defineConsole() {
    global.console = { log: log, info: log, warn: log, error: log, debug: log };
  }
  function withAbsent(object, names) {
    if (object) for (var i = 0; i < names.length; i += 1) if (!has(object, names[i])) object[names[i]] = undefined;
  }
  function asEvent(event) {
    withAbsent(event, ['entity', 'check', 'metrics']);
    withAbsent(event.check, ['subdue', 'proxy_requests']);
    return event;
  }
  function lookUp(name, key) {
    calls += 1;
    if (calls > ${MAX_LOOKUP_CALLS}) throw new ErrorOf(name + ': at most ${MAX_LOOKUP_CALLS} calls');
    if (!has(found, key) && key !== '${LIST_KEY}' && has(found, '${OTHERS_KEY}')) key = '${OTHERS_KEY}';
    if (!has(found, key)) {
      if (wanted === '') wanted = key;
      throw new ErrorOf(name + ': the event is looked up');
    }
    var value = found[key], kind = slice(value, 0, 1);
    if (kind === 'e') throw new ErrorOf(name + ': ' + slice(value, 1));
    return kind === '' ? undefined : parse(slice(value, 1));
  }
  function fetchEvent(entity, check) {
    entity = text(entity);
    check = text(check);
    if (entity.length > ${MAX_NAME_CHARACTERS} || check.length > ${MAX_NAME_CHARACTERS}) return undefined;
    var event = lookUp('FetchEvent', '[' + stringify(entity) + ',' + stringify(check) + ']');
    return event && asEvent(event);
  }
  function listEvents() {
    var events = lookUp('ListEvents', '${LIST_KEY}');
    for (var i = 0; i < events.length; i += 1) asEvent(events[i]);
    return events;
  }
  function lookupFunctions() {
    return define(define({}, 'FetchEvent', { value: fetchEvent }), 'ListEvents', { value: listEvents });
  }
  function describe(value) {
    if (typeof value === 'string') {
      return value.length > ${MAX_VALUE_CHARACTERS} ? stringify(slice(value, 0, ${MAX_VALUE_CHARACTERS})) + '…' : stringify(value);
    }
    if (typeof value === 'function') return 'a function';
    if (typeof value !== 'object' || value === null) return slice(text(value), 0, ${MAX_VALUE_CHARACTERS});
    return isArray(value) ? 'an array' : 'an object';
  }
  return {
    setNow: function (ms) { now = ms / 1000; },
    setVariable: function (name, json) { global[name] = parse(json); },
    prepareFilter: function () {
      defineConsole();
      global.mon = global.sensu = lookupFunctions();
    },
    prepareMutator: function () {
      defineConsole();
      global.mon = lookupFunctions();
    },
    addFound: function (key, value) { found[key] = value; },
    takeWanted: function () { var key = wanted; wanted = ''; return key; },
    setEvent: function (json) { given = global.event = asEvent(parse(json)); },
    carryEvent: function (json) { given = global.event = parse(json); },
    eventText: function () { return stringify(given); },
    begin: function (json, ms) {
      now = ms / 1000;
      given = asEvent(parse(json));
    },
    resultOf: function (expression) {
      var value = expression(given);
      return (value ? '1' : '0') + describe(value);
    },
    result: function (value) { return (value ? '1' : '0') + describe(value); },
    isTruthy: function (value) { return !!value; },
    takeWritten: function () { var all = written; written = ''; return all; }
  };
})(this);
`;
