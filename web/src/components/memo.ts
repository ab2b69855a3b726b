import { Component, type ComponentType, h } from 'preact';

/** A component that is drawn again only when one of these properties changes. */
export function memo<P extends object>(inner: ComponentType<P>, names: readonly (keyof P)[]): ComponentType<P> {
  return class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      return names.some((name) => next[name] !== this.props[name]);
    }

    override render() {
      return h(inner, this.props);
    }
  };
}
