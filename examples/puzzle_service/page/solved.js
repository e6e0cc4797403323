// solved.js: the list of what was solved before: search, pages, and opening one of them.
// SPDX-License-Identifier: MIT
import {short} from './charts.js';

const $ = id => document.getElementById(id);
const pageSize = 10;
const pause = 250;  // after a key, before the search

const kinds = {sliding: 'Tiles', klotski: 'Klotski', 'rush-hour': 'Rush Hour', queens: 'Queens', sudoku: 'Sudoku', uts: 'Tree'};

export const duration = ms => ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;

/** "5 minutes ago" */
export function ago(when, now = Date.now()) {
  const seconds = Math.max(0, Math.round((now - new Date(when)) / 1000));
  const words = new Intl.RelativeTimeFormat('en', {numeric: 'auto'});
  for (const [unit, size] of [['day', 86400], ['hour', 3600], ['minute', 60]]) {
    if (seconds >= size) return words.format(-Math.floor(seconds / size), unit);
  }
  return seconds < 10 ? 'just now' : `${seconds} seconds ago`;
}

const span = (name, text) => Object.assign(document.createElement('span'), {className: name, textContent: text});

export class SolvedList {
  /** @param open  called with {request, answer, ...} of the one that was chosen
   *  @param complain  called with what went wrong */
  constructor(open, complain) {
    Object.assign(this, {open, complain, offset: 0, total: 0, seen: null, away: ''});
    $('search').addEventListener('input', () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.show(0), pause);
    });
    $('newer').addEventListener('click', () => this.show(this.offset - pageSize));
    $('older').addEventListener('click', () => this.show(this.offset + pageSize));
    $('solved-list').addEventListener('keydown', event => this.key(event));
    setInterval(() => this.age(), 30000);
    this.show(0);
  }

  /** What the service tells of its answers, again and again. */
  hear({database, kept, waiting}) {
    const [, since, reason] = /^away since (\S+): (.*)$/.exec(database) ?? [];
    const away = since ? `The database has been away since ${new Date(since).toLocaleTimeString('en')}: ${reason}. ` +
      (waiting ? `What was solved meanwhile (${waiting}) is written when it is back.` : 'It is tried again.') : '';
    const came = this.seen !== null && kept !== this.seen;
    const isBack = this.away && !away;
    this.seen = kept;
    if (away !== this.away) {
      this.away = away;
      this.say(away);
    }
    if (!came && !isBack || this.waiting) return;
    // Many may come at once: one look a second is enough.
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.show(this.offset);
    }, isBack ? 0 : 1000);
  }

  say(text) {
    $('solved-note').textContent = text;
    $('solved-note').hidden = !text;
  }

  async show(offset) {
    this.asking?.abort();
    const own = this.asking = new AbortController();
    const search = $('search').value.trim();
    const query = new URLSearchParams({offset: Math.max(0, offset), count: pageSize});
    if (search) query.set('search', search);
    try {
      const response = await fetch(`/solved?${query}`, {signal: own.signal});
      const found = await response.json();
      if (!response.ok) throw new Error(found.error);
      if (found.entries.length === 0 && found.total > 0) {  // a page behind the last one
        return this.show(Math.floor((found.total - 1) / pageSize) * pageSize);
      }
      this.fill(found, search);
    } catch (error) {
      if (own.signal.aborted) return;
      const words = error instanceof TypeError ? 'the service does not answer' : error.message;
      this.say(this.away || `The list cannot be shown: ${words}.`);
    }
  }

  fill({total, offset, entries}, search) {
    Object.assign(this, {total, offset});
    const focused = document.activeElement?.dataset?.key;
    $('solved-list').replaceChildren(...entries.map(each => this.item(each)));
    if (focused) [...$('solved-list').querySelectorAll('button')].find(each => each.dataset.key === focused)?.focus();
    const none = search ? `Nothing that was solved has “${search}” in it.` : 'Nothing yet. What is solved stands here, to be seen again.';
    this.say(this.away || (total === 0 ? none : ''));
    $('solved-pages').hidden = total <= pageSize;
    const [hadNewer, hadOlder] = ['newer', 'older'].map(id => document.activeElement === $(id));
    $('newer').disabled = offset === 0;
    $('older').disabled = offset + entries.length >= total;
    // A control that has gone out of use does not take the focus along.
    if (hadNewer && $('newer').disabled) $('older').focus();
    if (hadOlder && $('older').disabled) $('newer').focus();
    $('solved-place').textContent = `${offset + 1} to ${offset + entries.length} of ${total.toLocaleString('en')}`;
    $('solved-count').textContent = total ? `${total.toLocaleString('en')}${search ? ' found' : ''}` : '';
  }

  item(entry) {
    const item = document.createElement('li');
    const button = Object.assign(document.createElement('button'), {type: 'button', className: 'entry'});
    button.dataset.key = entry.key;
    // The kind has a place of its own.
    const title = entry.title.replace(/^(Klotski|Rush Hour|Sudoku of|Unbalanced tree) /, '');
    const when = span('when', ago(entry.solved_at));
    when.dataset.at = entry.solved_at;
    when.title = new Date(entry.solved_at).toLocaleString();
    button.append(span('kind', kinds[entry.puzzle] ?? entry.puzzle), span('title', title), span('result', entry.result),
      span('nodes', `${short(entry.nodes)} positions`), span('took', duration(entry.milliseconds)), when);
    button.title = 'Show it again, without a new search';
    button.addEventListener('click', () => this.choose(entry.key));
    item.append(button);
    return item;
  }

  /** Up and down go through the list, as in every other list. */
  key(event) {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!step) return;
    const all = [...$('solved-list').querySelectorAll('button')];
    const next = all[all.indexOf(document.activeElement) + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  age() {
    for (const each of $('solved-list').querySelectorAll('.when')) each.textContent = ago(each.dataset.at);
  }

  async choose(key) {
    this.opening?.abort();
    const own = this.opening = new AbortController();
    try {
      const response = await fetch(`/solved/${key}`, {signal: own.signal});
      const kept = await response.json();
      if (!response.ok) throw new Error(`It cannot be shown: ${kept.error}.`);
      await this.open(kept);
    } catch (error) {
      if (own.signal.aborted) return;
      this.complain(error instanceof TypeError ? 'The service does not answer. Is it still running?' : error.message);
    }
  }
}
