import type { ComponentChildren } from 'preact';
import { Sentence } from './sentence.tsx';
import type { Explanation } from './explanation.ts';

interface WhyProps {
  explanation: Explanation | undefined;
  error: string | undefined;
  children: ComponentChildren;
}

/** The chain from the result to the handlers, in sentences. */
export function Why({ explanation, error, children }: WhyProps) {
  return (
    <section class="card" aria-labelledby="why">
      <header>
        <h2 id="why">Why</h2>
        {children}
      </header>
      {explanation === undefined ? (
        <p class={error === undefined ? 'muted' : 'error-text'}>{error ?? 'Reading the record …'}</p>
      ) : (
        <ol class="chain">
          {explanation.sentences.map((sentence) => (
            <li key={sentence}>
              <Sentence text={sentence} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
