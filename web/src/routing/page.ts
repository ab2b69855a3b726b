import type { ComponentType } from 'preact';

export interface PageProps {
  /** The named segments of the path, decoded. */
  params: Readonly<Record<string, string>>;
}

/** An entry of the table of pages. */
export interface Page {
  /** `:word` is one segment. */
  path: string;
  title: (params: PageProps['params']) => string;
  load: () => Promise<ComponentType<PageProps>>;
}

export interface MatchedPage {
  page: Page;
  params: Readonly<Record<string, string>>;
}

/** Finds the page of a path. */
export function matchPage(pages: readonly Page[], path: string): MatchedPage | undefined {
  for (const page of pages) {
    const params = matchPath(page.path, path);
    if (params !== undefined) return { page, params };
  }
  return undefined;
}

function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), path.replace(/(.)\/$/, '$1').split('/')];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const segment = given[index] ?? '';
    if (part.startsWith(':')) {
      const value = decoded(segment);
      if (value === undefined || value === '') return undefined;
      params[part.slice(1)] = value;
    } else if (part !== segment) return undefined;
  }
  return params;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
