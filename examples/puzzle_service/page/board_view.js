// board_view.js: draws a board, and lets its pieces be moved by finger, mouse and keys.
// SPDX-License-Identifier: MIT
import {ways} from './board.js';

const arrows = {ArrowUp: 'up', ArrowLeft: 'left', ArrowRight: 'right', ArrowDown: 'down'};

export class BoardView {
  /** @param moved  called after each change by hand */
  constructor(element, moved) {
    this.element = element;
    this.moved = moved;
    this.pieces = new Map();
    this.editing = false;
    this.locked = false;
  }

  /** Shows `board` and keeps it: moves by hand change it. */
  show(puzzle, board) {
    Object.assign(this, {puzzle, board});
    this.element.replaceChildren();
    this.pieces.clear();
    this.element.className = puzzle.boardClasses(board).join(' ');
    this.element.classList.toggle('editing', this.editing);
    this.element.style.setProperty('--rows', board.rows);
    this.element.style.setProperty('--cols', board.cols);
    for (const wall of board.walls) this.element.append(this.place(this.box('div', 'wall'), {...wall, height: 1, width: 1}));
    if (puzzle.exit) this.element.append(this.exit(puzzle.exit));
    board.pieces.forEach((piece, index) => {
      const button = this.box('button', 'piece');
      button.type = 'button';
      button.dataset.id = piece.id;
      button.append(document.createElement('span'));
      button.firstChild.textContent = piece.id;
      button.addEventListener('pointerdown', event => this.grab(event, piece, button));
      button.addEventListener('keydown', event => this.key(event, piece));
      this.element.append(button);
      this.pieces.set(index, button);
    });
    this.draw();
  }

  setEditing(on) {
    this.editing = on;
    this.element.classList.toggle('editing', on);
  }

  box(tag, name) {
    const made = document.createElement(tag);
    made.className = name;
    return made;
  }

  place(element, {row, col, height, width}) {
    for (const [key, value] of [['row', row], ['col', col], ['h', height], ['w', width]]) element.style.setProperty(`--${key}`, value);
    return element;
  }

  exit({row, col, height, width, side}) {
    const mark = this.place(this.box('div', 'exit'), {row, col, height, width});
    mark.style.left = `${100 * col / this.board.cols}%`;
    mark.style.top = `${100 * row / this.board.rows}%`;
    mark.style[`border-${side}-width`] = '5px';
    return mark;
  }

  draw() {
    this.board.pieces.forEach((piece, index) => {
      const button = this.place(this.pieces.get(index), piece);
      const {label, shade, classes = []} = this.puzzle.look(piece, this.board);
      button.classList.remove('home');
      button.classList.add(...classes);
      button.dataset.row = piece.row;
      button.dataset.col = piece.col;
      if (shade) button.firstChild.style.setProperty('--shade', `var(${shade})`);
      button.setAttribute('aria-label', `${label}, row ${piece.row + 1}, column ${piece.col + 1}`);
    });
  }

  /** One cell by hand. @returns whether it went */
  step(piece, way) {
    if (this.locked) return false;
    const [down, right] = ways[way];
    if (this.editing) {
      if (!this.board.put(piece, piece.row + down, piece.col + right)) return false;
    } else {
      if (!this.board.canMove(piece, way)) return false;
      this.board.move(piece, way);
    }
    this.draw();
    this.moved();
    return true;
  }

  key(event, piece) {
    const way = arrows[event.key];
    if (way) {
      event.preventDefault();
      this.step(piece, way);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.tap(piece);
    }
  }

  /** A piece that can go one way only goes there. */
  tap(piece) {
    const open = Object.keys(ways).filter(way => this.board.canMove(piece, way));
    if (!this.editing && open.length === 1) this.step(piece, open[0]);
  }

  grab(event, piece, button) {
    if (this.locked || event.button !== 0) return;
    const cell = this.element.clientWidth / this.board.cols;
    let x = event.clientX, y = event.clientY, went = false;
    button.setPointerCapture(event.pointerId);
    button.classList.add('lifted');
    const drag = moving => {
      const right = moving.clientX - x, down = moving.clientY - y;
      if (this.editing) {
        went ||= Math.hypot(right, down) > 4;
        button.style.translate = `${right}px ${down}px`;
        return;
      }
      const isAcross = Math.abs(right) > Math.abs(down);
      if (Math.max(Math.abs(right), Math.abs(down)) < cell / 2) return;
      const way = isAcross ? (right > 0 ? 'right' : 'left') : (down > 0 ? 'down' : 'up');
      went = true;
      if (this.step(piece, way)) isAcross ? x += Math.sign(right) * cell : y += Math.sign(down) * cell;
    };
    const drop = dropped => {
      button.removeEventListener('pointermove', drag);
      button.removeEventListener('pointerup', drop);
      button.removeEventListener('pointercancel', drop);
      button.classList.remove('lifted');
      button.style.translate = '';
      if (!went) return this.tap(piece);
      if (!this.editing) return;
      const row = piece.row + Math.round((dropped.clientY - y) / cell);
      const col = piece.col + Math.round((dropped.clientX - x) / cell);
      if (this.board.put(piece, row, col)) this.moved();
      this.draw();
    };
    button.addEventListener('pointermove', drag);
    button.addEventListener('pointerup', drop);
    button.addEventListener('pointercancel', drop);
  }
}
