// A worker: answers a question a line, as the one in rust/benches does, over the streams that it has written.
//
// Text is decoded as a client has to: by one TextDecoder a stream, since a character may be cut by a read.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { createParser } from 'eventsource-parser'

const PEERS = {
  'eventsource-parser': (reads, sink) => {
    const decoder = new TextDecoder()
    const parser = createParser({ onEvent: (event) => sink(event.data) })
    for (const read of reads) {
      parser.feed(decoder.decode(read, { stream: true }))
    }
  },
}

const LINE_FEED = 10
const folder = process.argv[2]

function cut(body, reads) {
  if (reads === 'event') {
    return blocks(body)
  }
  const size = { whole: body.length, '4k': 4096 }[reads] ?? Number(reads)
  const pieces = []
  for (let start = 0; start < body.length; start += size) {
    pieces.push(body.subarray(start, start + size))
  }
  return pieces
}

function blocks(body) {
  const pieces = []
  let start = 0
  for (let at = 1; at < body.length; at++) {
    if (body[at] === LINE_FEED && body[at - 1] === LINE_FEED) {
      pieces.push(body.subarray(start, at + 1))
      start = at + 1
    }
  }
  return start < body.length ? [...pieces, body.subarray(start)] : pieces
}

function check(run, reads) {
  const hash = createHash('sha256')
  const length = Buffer.alloc(4)
  let events = 0
  run(reads, (text) => {
    const data = Buffer.from(text)
    length.writeUInt32LE(data.length)
    hash.update(length).update(data)
    events += 1
  })
  return `${events} ${hash.digest('hex')}`
}

// What a pass takes this thread of the processor cannot be asked for. Both clocks say at least that: the one on the wall
// goes on while other programs run, and the process's counts what V8 does in other threads. The lesser is used.
function time(run, reads, milliseconds) {
  const passes = []
  let characters = 0
  let total = 0
  while (passes.length === 0 || total < milliseconds * 1e6) {
    const start = process.hrtime.bigint()
    const before = process.cpuUsage()
    run(reads, (text) => (characters += text.length))
    const { user, system } = process.cpuUsage(before)
    const pass = Math.min(Number(process.hrtime.bigint() - start), (user + system) * 1000)
    passes.push(pass)
    total += pass
  }
  passes.sort((one, other) => one - other)
  return passes[passes.length >> 1]
}

function answer(question) {
  const [verb, scenario, reads, peer, milliseconds] = question.split(' ')
  if (verb === 'peers') {
    return Object.keys(PEERS).join(' ')
  }
  const pieces = cut(readFileSync(join(folder, scenario)), reads)
  return verb === 'check' ? check(PEERS[peer], pieces) : time(PEERS[peer], pieces, milliseconds)
}

for await (const question of createInterface({ input: process.stdin })) {
  try {
    console.log(String(answer(question)))
  } catch (error) {
    console.log(`failed: ${error.message}`)
  }
}
