/** The owner of a task: the namespace, and the name of the check or the handler for which it is evaluated. */
export interface TaskOwner {
  namespace: string;
  name: string;
}

interface Owned {
  owner: TaskOwner;
}

interface NamespaceTasks<T> {
  /** Tasks by name. The name whose task was taken last is at the end. */
  byName: Map<string, T[]>;
  size: number;
}

/** Waiting tasks, served round robin: first by namespace, then by name within a namespace. */
export class FairQueue<T extends Owned> {
  /** Namespaces with waiting tasks. The one whose task was taken last is at the end. */
  readonly #namespaces = new Map<string, NamespaceTasks<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(task: T): void {
    this.#tasksOf(task).push(task);
  }

  /** Adds a task that has begun: it is the next one of its name. */
  addFirst(task: T): void {
    this.#tasksOf(task).unshift(task);
  }

  /** Removes and returns the next task that may run. Of a namespace, only the next task can be taken. */
  next(mayRun: (task: T) => boolean): T | undefined {
    for (const [namespace, waiting] of this.#namespaces) {
      const [[name, tasks] = []] = waiting.byName;
      const [first] = tasks ?? [];
      if (name === undefined || tasks === undefined || first === undefined || !mayRun(first)) continue;
      const task = tasks.shift() ?? first;
      waiting.byName.delete(name);
      if (tasks.length > 0) waiting.byName.set(name, tasks);
      this.#namespaces.delete(namespace);
      this.#namespaces.set(namespace, waiting);
      this.#removed(namespace, waiting);
      return task;
    }
    return undefined;
  }

  /**
   * Makes room for a task of this namespace: removes and returns the newest task of the namespace with the most tasks.
   * Returns undefined if no other namespace has more tasks than this one would have.
   */
  displace(namespace: string): T | undefined {
    const own = this.#namespaces.get(namespace)?.size ?? 0;
    let largest: [string, NamespaceTasks<T>] | undefined;
    for (const entry of this.#namespaces) if (entry[1].size > (largest?.[1].size ?? own + 1)) largest = entry;
    if (largest === undefined) return undefined;
    const [from, waiting] = largest;
    const [name, tasks] = [...waiting.byName].at(-1) ?? ['', []];
    const task = tasks.pop();
    if (tasks.length === 0) waiting.byName.delete(name);
    this.#removed(from, waiting);
    return task;
  }

  /** Removes and returns all tasks. */
  drain(): T[] {
    const all = [...this.#namespaces.values()].flatMap(({ byName }) => [...byName.values()].flat());
    this.#namespaces.clear();
    this.#size = 0;
    return all;
  }

  #tasksOf({ owner: { namespace, name } }: T): T[] {
    let waiting = this.#namespaces.get(namespace);
    if (waiting === undefined) {
      waiting = { byName: new Map(), size: 0 };
      this.#namespaces.set(namespace, waiting);
    }
    let tasks = waiting.byName.get(name);
    if (tasks === undefined) {
      tasks = [];
      waiting.byName.set(name, tasks);
    }
    waiting.size += 1;
    this.#size += 1;
    return tasks;
  }

  #removed(namespace: string, waiting: NamespaceTasks<T>): void {
    waiting.size -= 1;
    this.#size -= 1;
    if (waiting.size === 0) this.#namespaces.delete(namespace);
  }
}
