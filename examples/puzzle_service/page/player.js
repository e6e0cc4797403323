// player.js: shows a solution: play, pause, step, and a slider over its moves.
// SPDX-License-Identifier: MIT
import {opposite} from './board.js';

const $ = id => document.getElementById(id);
const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;

export class Player {
  constructor(view) {
    this.view = view;
    this.moves = [];
    this.at = 0;
    this.timer = null;
    $('first').addEventListener('click', () => this.goTo(0));
    $('back').addEventListener('click', () => this.goTo(this.at - 1));
    $('next').addEventListener('click', () => this.goTo(this.at + 1));
    $('toggle').addEventListener('click', () => this.timer ? this.pause() : this.play());
    $('scrubber').addEventListener('input', () => this.goTo(Number($('scrubber').value)));
    $('speed').addEventListener('change', () => { if (this.timer) this.play(); });
  }

  /** @param moves  of the board that is shown: each is a list of unit steps */
  load(moves) {
    this.moves = moves;
    this.at = 0;
    $('scrubber').max = moves.length;
    $('player').hidden = moves.length === 0;
    this.update();
    if (moves.length > 0 && !isStill) this.play();
  }

  clear() {
    this.pause();
    this.moves = [];
    $('player').hidden = true;
  }

  play() {
    this.pause();
    if (this.at === this.moves.length) this.jump(0);
    // Of itself no solution takes longer than some 20 s: long ones go faster, very long ones in leaps.
    const chosen = $('speed').value;
    const pace = chosen === 'auto' ? Math.max(30, Math.min(350, 20000 / this.moves.length)) : Number(chosen);
    const leap = chosen === 'auto' ? Math.ceil(this.moves.length * pace / 20000) : 1;
    this.view.element.style.setProperty('--pace', `${Math.round(Math.min(220, pace * 0.8))}ms`);
    this.timer = setInterval(() => {
      this.jump(this.at + leap);
      if (this.at === this.moves.length) this.pause();
    }, pace);
    this.update();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.view.element.style.removeProperty('--pace');
    this.update();
  }

  goTo(target) {
    this.pause();
    this.jump(target);
  }

  jump(target) {
    const {board} = this.view;
    target = Math.max(0, Math.min(this.moves.length, target));
    for (; this.at < target; ++this.at) {
      for (const [id, way] of this.moves[this.at]) board.move(board.piece(id), way);
    }
    for (; this.at > target; --this.at) {
      for (const [id, way] of [...this.moves[this.at - 1]].reverse()) board.move(board.piece(id), opposite[way]);
    }
    this.view.draw();
    this.update();
  }

  update() {
    $('scrubber').value = this.at;
    $('place').textContent = `${this.at} / ${this.moves.length}`;
    // At its beginning what plays can still be stopped there.
    $('back').disabled = $('first').disabled = this.at === 0 && !this.timer;
    $('next').disabled = this.at === this.moves.length;
    $('toggle').textContent = this.timer ? '❚❚' : '▶';
    $('toggle').setAttribute('aria-label', this.timer ? 'pause' : 'play');
  }
}
