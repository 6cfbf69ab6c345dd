import { readdirSync, readFileSync } from 'node:fs'

/** Processor time in µs of a Node process, and of PostgreSQL with all of its processes, including its internal ones. */
export interface CpuTime {
  node: number
  postgres: number
}

export interface Process {
  readonly pid: number
}

/** Starts measuring. The returned function gives the time per request since then; null without /proc. */
export function startMeter(node: Process, postmaster: Process): (requests: number) => CpuTime | null {
  const before = read(node.pid, postmaster.pid)
  return (requests) => {
    const after = read(node.pid, postmaster.pid)
    if (before === null || after === null) return null
    return {
      node: (after.node - before.node) / requests,
      postgres: (after.postgres - before.postgres) / requests,
    }
  }
}

function read(nodePid: number, postmasterPid: number): CpuTime | null {
  const [node, postmaster] = [statOf(nodePid), statOf(postmasterPid)]
  if (node === null || postmaster === null) return null
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  const children = pids.map(statOf).filter((stat) => stat?.parent === postmasterPid)
  const living = children.reduce((sum, child) => sum + (child?.ownUs ?? 0), 0)
  return { node: node.ownUs, postgres: postmaster.ownUs + postmaster.endedChildrenUs + living }
}

/** Linux reports times in hundredths of a second, whatever its own clock rate. */
const tickUs = 10_000

function statOf(pid: number): { parent: number; ownUs: number; endedChildrenUs: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The process name can contain spaces and brackets; numeric fields follow its last bracket.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [, parent = 0] = fields
    const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15)
    return { parent, ownUs: (user + system) * tickUs, endedChildrenUs: (childrenUser + childrenSystem) * tickUs }
  } catch {
    // No /proc, or the process has ended.
    return null
  }
}
