import { setTimeout as wait } from 'node:timers/promises'
import { apis, ports, urlOf } from '../machines.ts'
import { mustCall } from './call.ts'
import { teamToken, type World } from './world.ts'

const pauseMs = 50
const timeoutMs = 10_000

/**
 * Measures the time from the answer to a create at one API process to the notification of a page at the other, `times`
 * in each direction. A longer time than 10 s counts as 10 s.
 */
export async function measureNotifications({ workspaceId, key }: World, times: number): Promise<number[]> {
  const durations: number[] = []
  for (const [writer, reader] of [apis, apis.toReversed()]) {
    if (writer === undefined || reader === undefined) throw new Error('Two APIs expected')
    const stream = await follow(`${urlOf(reader, ports.parley)}/api/team/v1/workspaces/${workspaceId}/live`)
    for (let n = 0; n < times; n++) {
      const body = { firstName: 'Kim', lastName: 'step-0' }
      const { data } = await mustCall(`${urlOf(writer, ports.parley)}/api/v1/leads`, {
        method: 'POST',
        token: key,
        body,
      })
      const answeredAt = performance.now()
      durations.push(Math.max(0, (await stream.receivedAt(data.id)) - answeredAt))
      await wait(pauseMs)
    }
    stream.close()
  }
  return durations
}

interface Stream {
  /** Resolves with the time at which this id first appeared. */
  receivedAt(id: string): Promise<number>
  close(): void
}

async function follow(url: string): Promise<Stream> {
  const controller = new AbortController()
  const reply = await fetch(url, { headers: { authorization: `Bearer ${teamToken()}` }, signal: controller.signal })
  if (!reply.ok || reply.body === null) throw new Error(`The stream was refused with ${reply.status}`)
  const blocks: { text: string; at: number }[] = []
  const read = async (body: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder()
    for await (const bytes of body) {
      blocks.push({ text: decoder.decode(bytes, { stream: true }), at: performance.now() })
    }
  }
  read(reply.body).catch(() => {})
  const receivedAt = async (id: string) => {
    const endsAt = performance.now() + timeoutMs
    while (performance.now() < endsAt) {
      const found = blocks.find(({ text }) => text.includes(id))
      if (found !== undefined) return found.at
      await wait(2)
    }
    return performance.now()
  }
  return { receivedAt, close: () => controller.abort() }
}
