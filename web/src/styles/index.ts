import './tokens.css';
import './base.css';
import './shell.css';
import './components.css';
import './lists.css';
import './pages.css';
