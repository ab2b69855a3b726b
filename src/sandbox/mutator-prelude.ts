/**
 * Builds the variable `event` of a mutator: the JSON of the event, whose objects also read and write the members of
 * their metadata, although these are not members of the JSON. Lists have a fixed size. Source: spec/04 2.8.
 */
export const MUTATOR_PRELUDE = `
(function (global) {
  var define = Object.defineProperty, fix = Object.preventExtensions, keys = Object.keys, isArray = Array.isArray;
  var parse = JSON.parse, stringify = JSON.stringify;
  var tagOf = Function.prototype.call.bind(Object.prototype.toString);
  var slice = Function.prototype.call.bind(String.prototype.slice);
  var NAMES = ['name', 'namespace', 'labels', 'annotations', 'created_by'];
  var MAPS = ['labels', 'annotations'];
  function hidden(object, name, get, set) {
    define(object, name, { enumerable: false, configurable: true, get: get, set: set });
  }
  function method(object, name, value) {
    define(object, name, { enumerable: false, configurable: true, writable: true, value: value });
  }
  function absentMap(metadata, name) {
    var map = {};
    hidden(metadata, name, function () { return map; }, function (value) {
      define(metadata, name, { enumerable: true, configurable: true, writable: true, value: value });
    });
    return map;
  }
  function withAbsentMaps(metadata) {
    var absent = {};
    MAPS.forEach(function (name) { if (!metadata[name]) absent[name] = absentMap(metadata, name); });
    if (keys(absent).length === 0) return;
    method(metadata, 'toJSON', function () {
      var copy = {}, self = this;
      keys(self).forEach(function (name) { copy[name] = self[name]; });
      keys(absent).forEach(function (name) { if (!(name in copy) && keys(absent[name]).length > 0) copy[name] = absent[name]; });
      return copy;
    });
  }
  function flatten(object) {
    if (!object.metadata) object.metadata = {};
    withAbsentMaps(object.metadata);
    NAMES.forEach(function (name) {
      hidden(object, name, function () { return object.metadata && object.metadata[name]; }, function (value) {
        object.metadata[name] = value;
      });
    });
  }
  function fixLists(value) {
    if (value === null || typeof value !== 'object') return;
    keys(value).forEach(function (name) { fixLists(value[name]); });
    if (isArray(value)) fix(value);
  }
  function withBytes(event, uuid, bytes) {
    var id = bytes;
    method(id, 'toJSON', function () { return uuid; });
    event.id = fix(id);
  }
  var event;
  return {
    setVariables: function (json) {
      var variables = parse(json);
      keys(variables).forEach(function (name) {
        define(global, name, { enumerable: true, configurable: true, writable: true, value: variables[name] });
      });
    },
    setMutable: function (json, bytes, methods) {
      event = parse(json);
      fixLists(event);
      [event, event.check, event.entity].forEach(function (object) { if (object) flatten(object); });
      if (event.check) (event.check.hooks || []).forEach(flatten);
      if (event.id) withBytes(event, event.id, parse(bytes));
      var derived = parse(methods);
      keys(derived).forEach(function (name) { method(event, name, function () { return derived[name]; }); });
      global.event = event;
    },
    finish: function (value) {
      if (value === undefined || value === null) return 'e' + stringify(event);
      if (typeof value === 'string') return 't' + value;
      return 'c' + (typeof value === 'object' || typeof value === 'function' ? slice(tagOf(value), 8, -1) : '');
    }
  };
})(this);
`;
