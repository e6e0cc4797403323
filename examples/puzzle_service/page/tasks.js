// tasks.js: follows GET /debug/tasks and /debug/advice: who waits for what, and which thread runs whom.
// SPDX-License-Identifier: MIT
import {duration} from './solved.js';

const $ = id => document.getElementById(id);
const every = 2000;
const mostRows = 200;

const roles = {worker: 'Workers', 'completion thread': 'Completion threads', 'blocking thread': 'Threads for calls that block'};

const make = (tag, className, text = '') => Object.assign(document.createElement(tag), {className, textContent: text});
const age = ns => duration(ns / 1e6);
/** How long a thread has run it without a pause. One for calls that block has no pauses: there the call's wait has an age. */
const runsFor = (thread, ns) => thread?.role !== 'blocking thread' && ns > 0 ? ns : 0;
const isTask = node => 'spawned_at' in node;
const nameOf = node => node.name || 'without a name';
const base = path => path.slice(path.lastIndexOf('/') + 1);

/** What one wait is, without what differs from look to look: addresses, and, of many tasks, the descriptor of one. */
function words(wait, isOne) {
  const text = wait.text.replace(/; for at least .*$/, '').replace(/ 0x[0-9a-f]+/g, '');
  return isOne ? text : text.replace(/ on descriptor .*$/, '');
}

/** Waits of a task, those in its scopes and time limits too, but not those of its children. */
function waitsOf(node, left = null) {
  const limit = !isTask(node) && node.left_ns !== undefined ? node.left_ns : left;
  const own = (node.waits ?? []).map(wait => ({...wait, left_ns: wait.left_ns ?? limit}));
  return [...own, ...(node.children ?? []).filter(each => !isTask(each)).flatMap(each => waitsOf(each, limit))];
}

/** The tasks right below, also those within scopes. */
const tasksIn = nodes => nodes.flatMap(each => isTask(each) ? [each] : tasksIn(each.children ?? []));

/** One row for each group of tasks, in the order of who has spawned whom. */
export function rowsOf(nodes, depth = 0, times = 1, path = '') {
  const sorted = tasksIn(nodes).sort((a, b) => (b.count ?? 1) - (a.count ?? 1) || a.id - b.id);
  const alike = new Map();  // ids change from look to look: a row is known by what it is
  return sorted.flatMap(node => {
    const count = times * (node.count ?? 1);
    const waits = waitsOf(node);
    const what = `${path}/${nameOf(node)} ${node.spawned_at.line}`;
    alike.set(what, (alike.get(what) ?? 0) + 1);
    const key = `${what} ${alike.get(what)}`;
    return [{key, node, count, depth, waits}, ...rowsOf(node.children ?? [], depth + 1, count, key)];
  });
}

export class TasksView {
  constructor(root) {
    Object.assign(this, {root, looking: null});
    root.addEventListener('toggle', () => this.follow());
    document.addEventListener('visibilitychange', () => this.follow());
  }

  /** Looks only while somebody can see it. */
  follow() {
    const isSeen = this.root.open && !document.hidden;
    if (isSeen === (this.looking !== null)) return;
    if (isSeen) {
      this.looking = new AbortController();
      this.look(this.looking.signal);
    } else {
      this.looking.abort();
      this.looking = null;
    }
  }

  async look(signal) {
    while (!signal.aborted) {
      const began = performance.now();
      try {
        this.show(await this.ask('/debug/tasks', signal));
        this.advise(await this.ask('/debug/advice', signal));
        this.say('');
      } catch (error) {
        if (signal.aborted) return;
        this.say(error instanceof TypeError ? 'The service does not answer: trying again …' : `${error.message}.`);
        if (error.isFinal) return this.clear();
      }
      await new Promise(done => setTimeout(done, Math.max(500, every - (performance.now() - began))));
    }
  }

  async ask(path, signal) {
    const response = await fetch(path, {signal});
    const answer = await response.json();
    if (response.ok) return answer;
    throw Object.assign(new Error(answer.error), {isFinal: response.status === 404});
  }

  say(text) {
    $('tasks-note').textContent = text;
    $('tasks-note').hidden = !text;
  }

  clear() {
    $('tasks-count').textContent = '';
    for (const id of ['thread-groups', 'tasks-list']) $(id).replaceChildren();
    $('advice').hidden = true;
  }

  advise({advice}) {
    $('advice').replaceChildren(...advice.map(each => make('li', '', each.trim())));
    $('advice').hidden = advice.length === 0;
  }

  show(dump) {
    const rows = rowsOf(dump.tasks);
    const names = new Map(rows.flatMap(({node}) => [node.id, ...(node.others ?? [])].map(id => [id, nameOf(node)])));
    const ready = Math.max(0, dump.live - dump.waiting - dump.running);
    $('tasks-count').textContent = `${dump.live.toLocaleString('en')} live: ${dump.waiting} wait, ${dump.running} run, ${ready} ready`;
    this.showThreads(dump.threads, names);
    // What is open, and what has the focus, stays so.
    const open = new Set([...$('tasks-list').querySelectorAll('details[open]')].map(each => each.dataset.key));
    const focused = document.activeElement?.parentElement?.dataset?.key;
    $('tasks-list').replaceChildren(...rows.slice(0, mostRows).map(each => this.row(each)));
    if (rows.length > mostRows) {
      $('tasks-list').append(make('li', 'soft', `and ${rows.length - mostRows} more groups: see them as text`));
    }
    for (const each of $('tasks-list').querySelectorAll('details')) {
      each.open = open.has(each.dataset.key);
      if (each.dataset.key === focused) each.firstChild.focus();
    }
  }

  showThreads(threads, names) {
    const byRole = new Map(Object.keys(roles).map(role => [role, []]));
    for (const each of threads) byRole.set(each.role, [...(byRole.get(each.role) ?? []), each]);
    const groups = [...byRole].filter(([, all]) => all.length > 0).map(([role, all]) => {
      all.sort((a, b) => (a.number ?? a.thread) - (b.number ?? b.thread));
      const group = make('div', 'threads');
      const busy = all.filter(each => each.state === 'runs').length;
      group.append(make('b', '', roles[role] ?? `Threads: ${role}`), make('span', 'soft', ` ${all.length}, ${busy} at work`));
      const list = make('ul', '');
      list.append(...all.map(each => this.thread(each, names)));
      group.append(list);
      return group;
    });
    $('thread-groups').replaceChildren(...groups);
  }

  thread(thread, names) {
    const item = make('li', thread.state);
    item.title = `thread ${thread.thread} of the operating system`;
    const what = thread.state !== 'runs' ? 'idle' : thread.task === undefined ? 'begins or ends a task' : names.get(thread.task) ?? `task ${thread.task}`;
    if (thread.number !== undefined) item.append(make('span', 'soft', `${thread.number} `));
    item.append(what);
    const since = runsFor(thread, thread.runs_for_at_least_ns);
    if (since > 0) item.append(make('span', 'soft', ` ${age(since)}`));
    return item;
  }

  row({key, node, count, depth, waits}) {
    const item = make('li', `group ${node.state}`);
    item.style.setProperty('--depth', Math.min(depth, 6));
    item.dataset.name = nameOf(node);
    item.dataset.count = count;
    const does = make('div', 'does');
    if (node.state === 'runs') does.append(make('p', 'runs', `runs on ${node.thread.role}${node.thread.number === undefined ? '' : ` ${node.thread.number}`}`));
    if (node.state === 'ready') does.append(make('p', '', 'is ready to run, or waits for what the runtime does not know'));
    if (node.stop) does.append(make('p', 'stop', `was asked to stop (${node.stop})`));
    does.append(...waits.map((wait, index) => this.wait(wait, count === 1, `${key}.${index}`)));
    if (!does.firstChild) does.append(make('p', '', 'waits for its children'));
    const ages = [runsFor(node.thread, node.runs_for_at_least_ns), ...waits.map(each => each.for_at_least_ns)].filter(each => each > 0);
    const isParent = waits.length === 0 && node.state === 'waits';
    const {file, line} = node.spawned_at;
    const place = make('span', 'place', file ? `${base(file)}:${line}` : '');
    place.title = file ? `${file}:${line}` : '';
    item.append(make('span', 'many', count === 1 ? '1' : count.toLocaleString('en')), make('span', 'who', nameOf(node)), does,
      make('span', ages.length ? 'since known' : 'since', ages.length ? age(Math.max(...ages)) : isParent ? '' : 'new'), place);
    return item;
  }

  wait(wait, isOne, key) {
    const limit = wait.left_ns > 0 ? `, time limit in ${age(wait.left_ns)}` : '';
    const text = `${words(wait, isOne)}${limit}`;
    if (!wait.frames?.length) return make('p', '', text);
    const details = make('details', '');
    details.dataset.key = key;
    const frames = make('ol', '');
    frames.append(...wait.frames.map(each => make('li', '', each.file ? `${each.function} at ${base(each.file)}:${each.line}` : each.function)));
    details.append(make('summary', '', text), make('p', 'soft', wait.text), frames);
    return details;
  }
}
