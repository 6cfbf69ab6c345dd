import { execFileSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { loopSeconds, ttlSeconds } from '../up/databases.ts'
import { type CaseResult, tableOf } from './figures.ts'

const version = (program: string, ...words: string[]): string => {
  const output = execFileSync(program, words, { encoding: 'utf8' })
  return /\d+\.\d+(?:\.\d+)?/.exec(output)?.[0] ?? 'unknown'
}

const otherFindings = `## Other findings

With \`etcd3:\` instead of \`etcd:\`, a frozen primary that resumed 2.5 s after another one had been promoted took the lock back, in 1 of 2 rounds that were examined:
Patroni 3.0.2 writes the leader key there without comparing (\`_update_leader\` in its \`etcd3.py\`). The other primary was demoted and rewound, and changes of at least
4 leads that it had acknowledged, synchronously, were lost. The test found this by reading back. With \`etcd:\` the write names the expected value.

A standby that was killed soon after it had been rewound once did not start again (PostgreSQL 15.20: \`contrecord is requested\`, forever), and was copied again.

When the primary is killed, the standby that is not synchronous may have received more than the one that is promoted. It must be rewound before writes resume, because
they wait for a second server: with loop_wait 5 s, on a machine with a load average of 30, that once took 40 s, and the outage 67 s (1 of 2 rounds).
`

/** Returns the page of docs/measurements about a fault test. */
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
  return `# Failover

<!-- Written by npm run test:cluster -- --write -->

\`npm run test:cluster\` reproduces every figure ([how](../fault-testing.md)). Three databases under Patroni (strict synchronous
mode, ttl ${ttlSeconds} s, loop_wait ${loopSeconds} s), two apis, two workers and a load balancer, each in its own network namespace, all on one machine: ${cores};
${versions.join(', ')}; fsync on; load average ${Math.round(loadavg()[2] ?? 0)}, including everything else on the machine. Nine callers, each with one request after the other, through the load balancer and so both apis: four create leads and change
each twice, two call as the platform does, two send messages with an \`Idempotency-Key\`, one reads. A webhook receives all events.
${new Date().toISOString().slice(0, 10)}.

${tableOf(results)}

| column | meaning |
|---|---|
| outage | the longest time without an acknowledged write of a lead, from the fault until everything is restored; one for each round, and with few rounds the largest is the p95 |
| acknowledged | writes that were confirmed to a caller, each read back afterwards: ${acknowledged.toLocaleString('en')} in ${sum(({ rounds }) => rounds)} rounds |
| events | each reached the webhook at least once, in the order of its lead or conversation; repeats in parentheses |
| responses | all, including 503 with \`Retry-After\`: changes, callbacks and sends were then repeated |
| notification | after each round, from the response of one api to a create until an open page on the other one is notified |
| findings | acknowledged and lost, sent twice, not delivered or out of order, a 500, a 503 without \`Retry-After\`, a cut connection, an outage above ${ttlSeconds + 5} s (6 s if it was planned), a failed request in a rolling restart or a planned switchover, notifications above 100 ms (p50) |

Standbys that did not recover by themselves after a crash, and were copied again: ${sum((one) => one.recopied)}.

**Findings.** ${findings.length === 0 ? `None. None in ${acknowledged.toLocaleString('en')} bounds the rate of losses to 1 in ${Math.floor(acknowledged / 3).toLocaleString('en')}.` : `\n${findings.join('\n')}`}

${otherFindings}`
}
