// monitor.js: follows GET /events: the charts, and how many threads there are.
// SPDX-License-Identifier: MIT
import {Chart} from './charts.js';

export class Monitor {
  /** @param sized  called with the number of workers when it is known, and when it changes
   *  @param answered  called with what the statistics say of kept answers */
  constructor(charts, state, sized, answered) {
    Object.assign(this, {state, sized, answered, last: 0});
    this.nodes = new Chart(charts, 'Search', ['positions/s']);
    this.workers = new Chart(charts, 'Worker pool', ['busy', 'threads']);
    this.queue = new Chart(charts, 'Worker queues', ['waiting items']);
    this.completions = new Chart(charts, 'Completion pool', ['threads', 'in flight']);
    // A browser has few connections to one host, and all its tabs share them.
    document.addEventListener('visibilitychange', () => document.hidden ? this.close() : this.open());
    if (!document.hidden) this.open();
  }

  close() {
    clearTimeout(this.waiting);
    this.source?.close();
  }

  open() {
    this.close();
    const source = this.source = new EventSource('/events');
    source.addEventListener('stats', event => this.show(JSON.parse(event.data)));
    source.addEventListener('error', () => {
      this.say('not connected: trying again …', 'off');
      if (source.readyState !== EventSource.CLOSED) return;  // the browser tries again by itself
      this.waiting = setTimeout(() => this.open(), 5000);
    });
  }

  say(text, state) {
    this.state.textContent = text;
    this.state.dataset.state = state;
  }

  show(stats) {
    const {workers, completion, searches, connections, uptime_seconds: time} = stats;
    if (time < this.last) for (const each of [this.nodes, this.workers, this.queue, this.completions]) each.clear();
    this.last = time;
    this.nodes.add(time, [stats.nodes_per_second]);
    this.workers.add(time, [Math.max(0, workers.threads - workers.idle), workers.threads]);
    this.queue.add(time, [workers.queued]);
    this.completions.add(time, [completion.threads, Math.max(0, completion.submitted - completion.completed)]);
    const plural = (count, word) => `${count} ${word}${count === 1 ? '' : word.endsWith('h') ? 'es' : 's'}`;
    this.say(`${plural(searches.running, 'search')}, ${plural(connections.open, 'connection')}`, 'on');
    if (this.size !== workers.size) this.sized(this.size = workers.size);
    this.answered(stats.answers);
  }
}
