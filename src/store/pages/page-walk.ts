import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type Child, freeRuns, NO_PAGE, type PageKind, pageOf, readMeta, type Tree, valueIn } from './page-layout.ts';

/** Damaged pages that a walk names; it stops after these. */
const MAX_NAMED = 20;
/** No tree of an LMDB file is deeper; a deeper one has a cycle. */
const MAX_DEPTH = 32;

const FREE_PAGES = 'list of free pages';
const FILE_ENDS = 'the file ends before the end of this page';

/** A page that does not match its tree. */
export interface DamagedPage {
  /** The table whose tree contains it; undefined for the pages that all tables share. */
  table: string | undefined;
  page: number;
  reason: string;
}

export interface PageWalk {
  /** Pages of all trees. */
  pages: number;
  /** Pages that can be written again. */
  freePages: number;
  damaged: readonly DamagedPage[];
}

/**
 * Follows every tree of an LMDB file from its newest header, and checks that each page is the one that its tree names, that its
 * entries lie within it, and that no page belongs to two places. It reads the file as bytes, so that no damage can end the process.
 * The contents of values are not read. While another process writes the file, the caller must hold a read transaction.
 *
 * @throws Error of the system when the file cannot be read
 */
export function walkPages(path: string): PageWalk {
  const file = openSync(path, 'r');
  try {
    return new Walk(file).run();
  } finally {
    closeSync(file);
  }
}

class Walk {
  readonly #file: number;
  readonly #damaged: DamagedPage[] = [];
  #pageSize = 0;
  #lastPage = 0;
  /** The number of the last transaction. */
  #newest = 0n;
  #seen = new Uint8Array(0);
  #pages = 0;
  readonly #lists: Buffer[] = [];
  #buffer = Buffer.alloc(0);

  constructor(file: number) {
    this.#file = file;
  }

  run(): PageWalk {
    const meta = readMeta(this.#file);
    if (typeof meta === 'string')
      return { pages: 0, freePages: 0, damaged: [{ table: undefined, page: 0, reason: meta }] };
    this.#pageSize = meta.pageSize;
    this.#lastPage = meta.lastPage;
    this.#newest = meta.transaction;
    this.#seen = new Uint8Array(Math.ceil((meta.lastPage + 1) / 8));
    this.#buffer = Buffer.alloc(meta.pageSize);
    const { size } = fstatSync(this.#file);
    this.#tree(meta.freePages, FREE_PAGES, size);
    this.#tree(meta.tables, undefined, size);
    const freePages = this.#freePages();
    return { pages: this.#pages, freePages, damaged: this.#damaged };
  }

  /** Walks one tree, and the trees of the tables that it names. */
  #tree({ root, depth }: Tree, table: string | undefined, size: number): void {
    if (root === NO_PAGE) return;
    if (depth > MAX_DEPTH) {
      this.#report(table, root, `its tree has a depth of ${depth}`);
      return;
    }
    const open: { page: number; levels: number }[] = [{ page: root, levels: depth }];
    for (let next = open.pop(); next !== undefined && !this.#isFull; next = open.pop()) {
      const { page, levels } = next;
      const children = this.#read(page, table, size, levels);
      for (const child of children) {
        if (child.kind === 'page') open.push({ page: child.page, levels: levels - 1 });
        else if (child.kind === 'value') this.#value(child, table, size);
        else if (child.kind === 'list') this.#lists.push(child.list);
        else this.#tree(child.tree, child.name, size);
      }
    }
  }

  get #isFull(): boolean {
    return this.#damaged.length >= MAX_NAMED;
  }

  /** Reads a page of a tree, `levels` above the end of the tree, and returns what it names. */
  #read(page: number, table: string | undefined, size: number, levels: number): readonly Child[] {
    if (!this.#take(page, table, 1, size)) return [];
    if (readSync(this.#file, this.#buffer, 0, this.#pageSize, page * this.#pageSize) !== this.#pageSize) {
      this.#report(table, page, FILE_ENDS);
      return [];
    }
    const leaf: PageKind = table === FREE_PAGES ? 'lists' : 'leaf';
    const read = this.#pageOf(page, levels === 1 ? leaf : 'branch');
    if (typeof read !== 'string') return read;
    this.#report(table, page, read);
    return [];
  }

  #pageOf(number: number, expected: PageKind): readonly Child[] | string {
    return pageOf(this.#buffer, { number, expected, newest: this.#newest });
  }

  /** Checks the first page of a value that has pages of its own. */
  #value({ page, pages, bytes }: Extract<Child, { kind: 'value' }>, table: string | undefined, size: number): void {
    if (!this.#take(page, table, pages, size)) return;
    if (readSync(this.#file, this.#buffer, 0, this.#pageSize, page * this.#pageSize) !== this.#pageSize) {
      this.#report(table, page, FILE_ENDS);
      return;
    }
    const read = this.#pageOf(page, 'value');
    if (typeof read === 'string') {
      this.#report(table, page, read);
      return;
    }
    if (table !== FREE_PAGES) return;
    const whole = Buffer.alloc(pages * this.#pageSize);
    readSync(this.#file, whole, 0, whole.length, page * this.#pageSize);
    this.#lists.push(valueIn(whole, bytes));
  }

  /** Checks the lists of free pages, after all trees: a page that is free and in use would be overwritten. Returns their number. */
  #freePages(): number {
    let free = 0;
    for (const list of this.#lists) {
      for (const run of freeRuns(list)) {
        if (this.#isFull) return free;
        if (run === undefined) this.#report(FREE_PAGES, 0, 'it has an entry that is not a list');
        else if (this.#mark(run.first, FREE_PAGES, run.count)) free += run.count;
      }
    }
    return free;
  }

  /** Marks pages as used. False when they are outside the file, or used already. */
  #take(first: number, table: string | undefined, count: number, size: number): boolean {
    if ((first + count) * this.#pageSize > size) {
      this.#report(table, first, first <= this.#lastPage ? FILE_ENDS : 'it is outside the file');
      return false;
    }
    if (!this.#mark(first, table, count)) return false;
    this.#pages += count;
    return true;
  }

  #mark(first: number, table: string | undefined, count: number): boolean {
    if (first < 2 || first + count - 1 > this.#lastPage) {
      this.#report(table, first, 'it is outside the file');
      return false;
    }
    for (let page = first; page < first + count; page += 1) {
      const [index, bit] = [page >> 3, 1 << (page & 7)];
      const marks = this.#seen[index] ?? 0;
      if ((marks & bit) !== 0) {
        this.#report(table, page, 'two places of the file name it');
        return false;
      }
      this.#seen[index] = marks | bit;
    }
    return true;
  }

  #report(table: string | undefined, page: number, reason: string): void {
    if (!this.#isFull) this.#damaged.push({ table, page, reason });
  }
}
