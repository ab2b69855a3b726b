import { useEffect, useMemo, useState } from 'preact/hooks';
import { at, CORE, get, request } from '../../api/client.ts';
import { messageOf } from '../../api/problem.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { Failure, Loading } from '../../components/states.tsx';
import { navigate, query, setQuery } from '../../routing/location.ts';
import type { PageProps } from '../../routing/page.ts';
import { paths } from '../../routing/paths.ts';
import { notify } from '../../state/notices.ts';
import { useLoaded } from '../../state/resource.ts';
import { deleteLater } from '../../state/undo.ts';
import { HandlerDryRun } from './handler-dry-run.tsx';
import { type Format, textOf, valueOf } from './formats.ts';
import { templateOf } from './templates.ts';

const NEW = 'new';

interface Draft {
  text: string;
  format: Format;
}

const otherThan = (format: Format): Format => (format === 'yaml' ? 'json' : 'yaml');
const NAMES: Readonly<Record<Format, string>> = { json: 'JSON', yaml: 'YAML' };

/** What has a list that leaves out what is deleted. */
const DELETABLE: ReadonlySet<string> = new Set([
  'checks',
  'handlers',
  'filters',
  'mutators',
  'pipelines',
  'hooks',
  'assets',
]);

const listOf = (namespace: string, kind: string): string =>
  kind === 'checks' ? paths.checks(namespace) : `${paths.handlers(namespace)}?kind=${kind}`;

/** The address of a resource; that of an event has two names. */
export function pathOf(namespace: string, kind: string, name: string): string {
  const names = kind === 'events' ? name.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(name);
  return `${CORE}${at`/namespaces/${namespace}/${kind}/`}${names}`;
}

/** A resource as JSON or YAML, to copy and to edit in either form. */
export function ResourcePage({ params: { namespace = '', kind = '', name = '' } }: PageProps) {
  const isNew = name === NEW;
  const format: Format = query.value.get('as') === 'yaml' ? 'yaml' : 'json';
  const [draft, setDraft] = useState<Draft>({ text: '', format });
  const [error, setError] = useState('');
  const loader = useLoaded(`${namespace} ${kind} ${name}`, (signal): Promise<object> => {
    if (isNew) return Promise.resolve(templateOf(kind, namespace));
    return get<object>(pathOf(namespace, kind, name), { signal });
  });
  const { data, error: problem } = loader.state.value;
  const stored = useMemo(() => (data === undefined ? '' : textOf(data, draft.format)), [data, draft.format]);
  const isChanged = data !== undefined && draft.text !== stored;
  useEffect(() => {
    if (data !== undefined) setDraft({ text: textOf(data, format), format });
  }, [data]);
  // The address is what chooses the form, also by the buttons of the browser. What was edited is converted.
  useEffect(() => {
    if (data === undefined || draft.format === format) return;
    setError('');
    valueOf(draft.text, draft.format).then(
      (value) => setDraft({ text: textOf(value, format), format }),
      (failure: unknown) => {
        setError(messageOf(failure));
        setQuery({ as: draft.format === 'yaml' ? 'yaml' : '' });
      },
    );
  }, [format, data]);
  if (problem !== undefined && data === undefined) {
    return <Failure title={name} message={problem} retry={loader.reload} />;
  }
  if (data === undefined) return <Loading what="Reading the resource" />;

  const remove = (): void => {
    deleteLater([pathOf(namespace, kind, name)], {
      text: `Deleted ${name}`,
      undone: () => navigate(paths.resource(namespace, kind, name)),
    });
    navigate(listOf(namespace, kind));
  };
  const save = async (): Promise<void> => {
    setError('');
    try {
      const body = (await valueOf(draft.text, draft.format)) as { metadata?: { name?: string } };
      const named = isNew ? (body.metadata?.name ?? '') : name;
      if (named === '') throw new Error('metadata.name must be given');
      await request('PUT', pathOf(namespace, kind, named), { body });
      notify(`Saved ${named}`);
      if (isNew) navigate(paths.resource(namespace, kind, named), { replace: true });
      else loader.reload();
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  return (
    <div class="stack">
      <div class="page-head">
        <h1>{isNew ? `New: ${kind}` : name}</h1>
        <p>{kind}</p>
        <div class="actions">
          <button type="button" onClick={() => setQuery({ as: format === 'yaml' ? '' : 'yaml' })}>
            As {NAMES[otherThan(format)]}
          </button>
          <CopyButton text={draft.text} />
          {!isNew && DELETABLE.has(kind) && (
            <button type="button" class="button-danger" onClick={remove}>
              Delete
            </button>
          )}
        </div>
      </div>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label>
          <span class="sr-only">
            {NAMES[draft.format]} of {name}
          </span>
          <textarea
            class="editor"
            rows={Math.min(40, draft.text.split('\n').length + 1)}
            spellcheck={false}
            value={draft.text}
            onInput={({ currentTarget }) => setDraft({ text: currentTarget.value, format: draft.format })}
          />
        </label>
        {error !== '' && (
          <p class="error-text" role="alert">
            {error}
          </p>
        )}
        <footer class="editor-buttons">
          <button type="submit" class="button-primary" disabled={!isChanged && !isNew}>
            Save
          </button>
          <button type="button" disabled={!isChanged} onClick={() => setDraft({ text: stored, format: draft.format })}>
            Discard the changes
          </button>
        </footer>
      </form>
      {!isNew && (kind === 'handlers' || kind === 'pipelines') && (
        <HandlerDryRun namespace={namespace} kind={kind} name={name} />
      )}
    </div>
  );
}
