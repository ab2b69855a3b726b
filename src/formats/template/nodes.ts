/** A part of a pipeline. `at` is its index in the source. */
export type Operand =
  | { type: 'dot'; at: number }
  | { type: 'nil'; at: number }
  | { type: 'bool'; at: number; value: boolean }
  | { type: 'number'; at: number; text: string; value: bigint | number }
  | { type: 'string'; at: number; text: string; value: string }
  /** `.labels.url` */
  | { type: 'field'; at: number; names: readonly string[] }
  /** `$x.url`; the name includes `$`. */
  | { type: 'variable'; at: number; name: string; names: readonly string[] }
  /** `(index .list 0).url` */
  | { type: 'chain'; at: number; operand: Operand; names: readonly string[] }
  | { type: 'function'; at: number; name: string }
  | Pipeline;

/** A function or value with its arguments. */
export interface Command {
  type: 'command';
  at: number;
  operands: readonly Operand[];
}

/** Commands that each receive the value of the previous one as their last argument. */
export interface Pipeline {
  type: 'pipeline';
  at: number;
  /** The variables that receive the value; in a `range`, its index and its element. */
  variables: readonly string[];
  /** Whether the variables exist already, `=`, or are new, `:=`. */
  isAssignment: boolean;
  commands: readonly Command[];
}

export interface Branch {
  type: 'if' | 'with' | 'range';
  at: number;
  pipeline: Pipeline;
  body: readonly Statement[];
  otherwise: readonly Statement[];
}

export interface Call {
  type: 'template';
  at: number;
  name: string;
  /** The data of the called template; none without a pipeline. */
  pipeline: Pipeline | undefined;
}

export type Statement =
  | { type: 'text'; text: string }
  | { type: 'action'; at: number; pipeline: Pipeline }
  | Branch
  | Call
  | { type: 'break' | 'continue'; at: number };

/** The parts of a template to which an error can refer. */
export type Located = Operand | Command | Call;

/** Writes a node as source, in the normal form that error messages use. */
export function sourceOf(node: Located): string {
  switch (node.type) {
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.value);
    case 'number':
    case 'string':
      return node.text;
    case 'field':
      return fields(node.names);
    case 'variable':
      return node.name + fields(node.names);
    case 'chain':
      return argument(node.operand) + fields(node.names);
    case 'function':
      return node.name;
    case 'command':
      return node.operands.map(argument).join(' ');
    case 'pipeline': {
      const commands = node.commands.map(sourceOf).join(' | ');
      return node.variables.length === 0
        ? commands
        : `${node.variables.join(', ')} ${node.isAssignment ? '=' : ':='} ${commands}`;
    }
    case 'template':
      return `{{template ${JSON.stringify(node.name)}${node.pipeline === undefined ? '' : ` ${sourceOf(node.pipeline)}`}}}`;
  }
}

const fields = (names: readonly string[]): string => names.map((name) => `.${name}`).join('');

const argument = (operand: Operand): string =>
  operand.type === 'pipeline' ? `(${sourceOf(operand)})` : sourceOf(operand);
