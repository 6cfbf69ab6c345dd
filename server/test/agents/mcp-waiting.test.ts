import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentsWorld } from '../support/agents/agents-world.ts'
import { connected, eras, overHttp, textOf } from '../support/agents/mcp-client.ts'
import { waitingNode } from '../support/agents/waiting-node.ts'
import { until } from '../support/until.ts'

const mostOfKey = 10

for (const era of eras) {
  test(`a client that hangs up while its calls wait makes room for others (${era})`, async () => {
    const w = await agentsWorld()
    const node = await waitingNode(w)
    const client = await connected(era, (one) => one.connect(overHttp(node.url, w.agent.value)))
    const calls = Array.from({ length: mostOfKey }, () => client.callTool({ name: 'wait_for_work' }))
    await until(async () => node.asked.work >= mostOfKey, 'all of them wait')
    assert.equal((await node.ask({ wait: 1 })).status, 429)
    const ended = calls.map((call) => assert.rejects(call))
    await Promise.all([...ended, client.close()])
    await until(async () => (await node.ask({ wait: 1 })).status === 200, 'a place that is free')
  })

  test(`a call that waits is answered with what a customer writes meanwhile (${era})`, async () => {
    const w = await agentsWorld()
    const node = await waitingNode(w)
    const client = await connected(era, (one) => one.connect(overHttp(node.url, w.agent.value)))
    const call = client.callTool({ name: 'wait_for_work' })
    await until(async () => node.asked.work > 0, 'it waits')
    await w.customerWrites('Hello')
    const { work } = textOf(await call)
    assert.equal(work[0].messages[0].customer_text, 'Hello')
  })
}
