import { execFileSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { loopSeconds, ttlSeconds } from '../up/databases.ts'
import { type CaseResult, tableOf } from './figures.ts'

const version = (program: string, ...words: string[]): string => {
  const told = execFileSync(program, words, { encoding: 'utf8' })
  return /\d+\.\d+(?:\.\d+)?/.exec(told)?.[0] ?? 'unknown'
}

const foundOnTheWay = `## Found on the way

With \`etcd3:\` in place of \`etcd:\`, a frozen primary that went on 2.5 s after another one had been promoted took the lock back, in 1 of 2 rounds that were looked at:
Patroni 3.0.2 writes the leader's key there without comparing (\`_update_leader\` in its \`etcd3.py\`). The other one was demoted and rewound, and changes of at least
4 leads that it had acknowledged, synchronously, were gone. The trial found it by reading back. By \`etcd:\` the write names the value that it expects.

A standby that was killed soon after it had been rewound did once not start again (PostgreSQL 15.20: \`contrecord is requested\`, for ever), and was copied anew.

Where the primary is killed, the standby that is not the synchronous one may have received more than the one that is promoted. It has to be rewound before writes go on, as
they wait for a second server: with loop_wait 5 s, on a machine with a load average of 30, that once took 40 s, and the outage 67 s (1 of 2 rounds).
`

/** What docs/measurements says of a trial. */
export function pageOf(results: readonly CaseResult[], postgresFolder: string): string {
  const versions = [
    `PostgreSQL ${version(`${postgresFolder}/postgres`, '--version')}`,
    `Patroni ${version('patroni', '--version')}`,
    `etcd ${version('etcd', '--version')}`,
    `HAProxy ${version('haproxy', '-v')}`,
    `Node ${process.versions.node}`,
  ]
  const cores = `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB`
  const sum = (of: (result: CaseResult) => number) => results.reduce((all, one) => all + of(one), 0)
  const acknowledged = sum(({ acknowledged: all }) => Object.values(all).reduce((a, b) => a + b, 0))
  const findings = results.flatMap(({ name, findings: all }) => all.map((words) => `* ${name}: ${words}`))
  return `# A cluster whose machines die

<!-- Written by npm run test:cluster -- --write -->

\`npm run test:cluster\` makes every figure again; [how](../fault-testing.md). Three databases under Patroni (strict synchronous
mode, ttl ${ttlSeconds} s, loop_wait ${loopSeconds} s), two apis, two workers and a balancer, each in a network namespace of its own, all on one machine: ${cores};
${versions.join(', ')}; fsync on; load average ${Math.round(loadavg()[2] ?? 0)}, of this and of whatever else the machine did. Nine callers, each one request after the other, by the balancer and so through both apis: four create leads and change
each twice, two call as the platform does, two send messages under an \`Idempotency-Key\`, one reads. A webhook is told of all of it.
${new Date().toISOString().slice(0, 10)}.

${tableOf(results)}

**How it is counted.** *Outage*: the longest time without an acknowledged write of a lead, from the fault until all is whole again; one for
each round, of a few the largest is the p95. *Acknowledged*: what a caller was told is done, each of which was read back afterwards: ${acknowledged.toLocaleString('en')} in
${sum(({ rounds }) => rounds)} rounds. *Events*: each came to the webhook at least once, in the order of its lead or conversation; repeats are beside
them. *Answers*: all of them, also those that say 503 and when to come again: changes, callbacks and sends were then asked for again. *News*: after each round, from the answer
of one api to a create until an open page at the other one is told of it. *Findings*: acknowledged and lost, sent twice, not told or out of order, a
500, a 503 that does not say when to come again, a connection cut, an outage above ${ttlSeconds + 5} s (6 s where it was planned), a request that failed in a rolling restart or
a planned switchover, news above 100 ms (p50). Standbys that did not find their way back by themselves after a crash, and were copied anew: ${sum((one) => one.copiedAnew)}.

**Findings.** ${findings.length === 0 ? `None. None in ${acknowledged.toLocaleString('en')} bounds the rate of losses to 1 in ${Math.floor(acknowledged / 3).toLocaleString('en')}.` : `\n${findings.join('\n')}`}

${foundOnTheWay}`
}
