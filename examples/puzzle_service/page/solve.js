// solve.js: asks the service, and reads the events of its answer.
// SPDX-License-Identifier: MIT

/** The events of a response, as [name, data]. */
export async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (true) {
    const {value, done} = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split('\n\n');
    text = blocks.pop();
    for (const block of blocks) {
      let name = 'message', data = '';
      for (const line of block.split('\n')) {
        if (line.startsWith('event: ')) name = line.slice(7);
        if (line.startsWith('data: ')) data += line.slice(6);
      }
      if (data) yield [name, JSON.parse(data)];
    }
  }
}

async function refusal(response) {
  const answer = await response.json().catch(() => null);
  if (!answer) return new Error(`The service answered ${response.status}, and not as expected.`);
  const meaning = {422: 'The service cannot solve this', 503: 'The service is busy'}[response.status];
  return new Error(`${meaning ?? 'The service refused'} (${response.status}): ${answer.error}.`);
}

/** Has a puzzle solved.
 *  @param told  called with each progress
 *  @param isFresh  not what is known from before
 *  @returns the answer; null after an abort by `signal`
 *  Throws an Error whose message can be shown. */
export async function solve(request, signal, told, isFresh = false) {
  try {
    const response = await fetch('/solve', {
      method: 'POST',
      headers: {'Content-Type': 'application/json', 'Accept': 'text/event-stream', ...(isFresh && {'Cache-Control': 'no-cache'})},
      body: JSON.stringify(request),
      signal,
    }).catch(error => {
      if (signal.aborted) throw error;
      throw new Error('The service does not answer. Is it still running?');
    });
    if (!response.ok) throw await refusal(response);
    for await (const [name, data] of eventsOf(response)) {
      if (name === 'progress') told(data);
      if (name === 'answer') return data;
      if (name === 'error') throw new Error(`The service gave up (${data.status}): ${data.error}.`);
    }
    throw new Error('The connection broke before there was an answer.');
  } catch (error) {
    if (signal.aborted) return null;
    if (error instanceof TypeError) throw new Error('The connection broke before there was an answer.');
    throw error;
  }
}
