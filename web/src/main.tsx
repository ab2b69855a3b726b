import { render } from 'preact';
import { App } from './app/app.tsx';
import { followLinks } from './routing/location.ts';
import './styles/index.ts';

followLinks();
const root = document.getElementById('app');
if (root === null) throw new Error('the page has no element with the id app');
render(<App />, root);
