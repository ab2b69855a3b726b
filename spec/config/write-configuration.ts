import { writeFileSync } from 'node:fs';
import { configurationPage } from '../support/configuration-page.ts';

writeFileSync('docs/configuration.md', configurationPage());
