// charts.js: a line chart over the last minute.
// SPDX-License-Identifier: MIT

const svg = (tag, attributes) => {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

/** 1234567 as "1.23 M". */
export function short(value, digits = 3) {
  for (const [unit, size] of [['G', 1e9], ['M', 1e6], ['k', 1e4]]) {
    if (value >= size) return `${Number((value / (unit === 'k' ? 1e3 : size)).toPrecision(digits))} ${unit}`;
  }
  return String(Math.round(value));
}

/** The next round number. */
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map(each => each * power).find(each => each >= value);
}

const width = 300, height = 72, span = 60;

export class Chart {
  /** @param names  one or two lines */
  constructor(parent, title, names) {
    this.title = title;
    this.names = names;
    this.samples = [];
    this.figure = document.createElement('figure');
    this.figure.className = 'chart';
    const caption = document.createElement('figcaption');
    caption.append(Object.assign(document.createElement('b'), {textContent: title}));
    this.keys = names.map((_, index) => Object.assign(document.createElement('span'), {className: `key k${index}`}));
    caption.append(...this.keys);
    this.svg = svg('svg', {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img'});
    for (const y of [0.5, height / 2, height - 0.5]) {
      this.svg.append(svg('line', {class: 'grid', x1: 0, x2: width, y1: y, y2: y, 'vector-effect': 'non-scaling-stroke'}));
    }
    this.area = svg('polygon', {class: 'area'});
    this.lines = names.map((_, index) => svg('polyline', {class: `s${index}`, 'vector-effect': 'non-scaling-stroke'}));
    this.svg.append(this.area, ...this.lines);
    const scale = Object.assign(document.createElement('div'), {className: 'scale'});
    this.top = document.createElement('span');
    scale.append(Object.assign(document.createElement('span'), {textContent: '1 min ago'}), this.top);
    this.figure.append(caption, this.svg, scale);
    parent.append(this.figure);
  }

  /** @param time  in seconds; never goes back */
  add(time, values) {
    this.samples.push([time, values]);
    while (this.samples.length > 1 && this.samples[1][0] < time - span) this.samples.shift();
    this.draw(time, values);
  }

  /** The service has begun anew. */
  clear() {
    this.samples = [];
  }

  draw(now, current) {
    const top = ceiling(Math.max(...this.samples.flatMap(([, values]) => values)) * 1.05);
    const x = time => (width * (1 - (now - time) / span)).toFixed(1);
    const y = value => (height - 1 - (height - 2) * value / top).toFixed(1);
    this.lines.forEach((line, index) => {
      line.setAttribute('points', this.samples.map(([time, values]) => `${x(time)},${y(values[index])}`).join(' '));
      this.keys[index].textContent = `${this.names[index]} ${short(current[index])}`;
    });
    const [first] = this.samples;
    this.area.setAttribute('points', `${x(first[0])},${height} ${this.lines[0].getAttribute('points')} ${width},${height}`);
    this.top.textContent = `0 … ${short(top)}`;
    this.svg.setAttribute('aria-label', `${this.title}: ${this.names.map((name, index) => `${name} ${short(current[index])}`).join(', ')}`);
  }
}
