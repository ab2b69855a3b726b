/** An element with its elements and texts, without attributes. */
export interface XmlElement {
  name: string;
  children: readonly XmlElement[];
  /** The text between the tags, when there are no elements. */
  text: string;
}

const TOKEN = /<\?[^]*?\?>|<!DOCTYPE[^>]*>|<!--(?:(?!--)[^])*-->|<\/?[A-Za-z][^<>]*>|[^<]+/y;
const TAG = /^<(\/?)([\w.-]+)((?:\s+[\w:.-]+="[^"<&]*")*)\s*(\/?)>$/;
const TEXT = /^(?:[^&]|&(?:amp|lt|gt|quot|apos|#\d+);)*$/;
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
};

/** Reads a document. @throws Error where it is not well-formed */
export function parseXml(document: string): XmlElement {
  interface Open {
    name: string;
    children: XmlElement[];
    text: string;
  }
  const root: Open = { name: '', children: [], text: '' };
  const open = [root];
  const inner = (): Open => open.at(-1) ?? root;
  const token = new RegExp(TOKEN);
  while (token.lastIndex < document.length) {
    const at = token.lastIndex;
    const [text] = token.exec(document) ?? [];
    const wrong = (what: string): Error => new Error(`${what} at ${at}: ${document.slice(at, at + 40)}`);
    if (text === undefined) throw wrong('not XML');
    if (/^<[?!]/.test(text)) continue;
    if (!text.startsWith('<')) {
      if (!TEXT.test(text) || (open.length === 1 && text.trim() !== '')) throw wrong('a text that is not allowed');
      inner().text += text.replaceAll(/&\w+;/g, (entity) => ENTITIES[entity] ?? entity);
      continue;
    }
    const [, closing, name = '', , empty] = TAG.exec(text) ?? [];
    if (name === '') throw wrong('a tag that is not well-formed');
    if (closing === '/') {
      const ended = open.pop();
      if (ended?.name !== name || open.length === 0) throw wrong(`</${name}> without its beginning`);
      inner().children.push(ended);
    } else if (empty === '/') inner().children.push({ name, children: [], text: '' });
    else open.push({ name, children: [], text: '' });
  }
  const [element, ...others] = root.children;
  if (open.length > 1 || element === undefined || others.length > 0) throw new Error('not one complete element');
  return element;
}

/** Reads a property list, as plutil does: keys alternate with values of known types. @throws Error */
export function plistOf(document: string): unknown {
  const { name, children } = parseXml(document);
  const [value, ...others] = children;
  if (name !== 'plist' || value === undefined || others.length > 0) throw new Error('not a property list');
  return valueOf(value);
}

function valueOf({ name, children, text }: XmlElement): unknown {
  switch (name) {
    case 'true':
    case 'false':
      return name === 'true';
    case 'string':
      return text;
    case 'integer':
      if (!/^-?\d+$/.test(text)) throw new Error(`${text} is no integer`);
      return Number(text);
    case 'array':
      return children.map(valueOf);
    case 'dict': {
      const isPaired =
        children.length % 2 === 0 && children.every((each, index) => (each.name === 'key') === (index % 2 === 0));
      if (!isPaired) throw new Error('keys and values do not alternate');
      const keys = children.filter((_, index) => index % 2 === 0).map((key) => key.text);
      if (new Set(keys).size < keys.length) throw new Error('a key stands twice');
      const values = children.filter((_, index) => index % 2 === 1).map(valueOf);
      return Object.fromEntries(keys.map((key, index) => [key, values[index]]));
    }
    default:
      throw new Error(`<${name}> is no value of a property list`);
  }
}
