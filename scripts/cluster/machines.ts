/** Machine of the cluster: a network namespace with one address, connected only to the bridge. */
export type Machine = keyof typeof hosts

// 198.18.0.0/15 is reserved for benchmarks: no real network uses it.
const network = '198.18.77'
const hosts = {
  db1: 11,
  db2: 12,
  db3: 13,
  keeper: 21,
  api1: 31,
  api2: 32,
  worker1: 41,
  worker2: 42,
  balancer: 51,
  outside: 61,
} as const

export const databases = ['db1', 'db2', 'db3'] as const
export const apis = ['api1', 'api2'] as const
export const workers = ['worker1', 'worker2'] as const
export const services = [...apis, ...workers] as const
export const machines = Object.keys(hosts) as Machine[]

export type Database = (typeof databases)[number]
export type Service = (typeof services)[number]

export const addressOf = (machine: Machine): string => `${network}.${hosts[machine]}`
export const hubAddress = `${network}.1`
export const range = `${network}.0/24`
export const prefixBits = 24
/** Link between the host and the load balancer, the only part of the cluster that is reachable from outside. */
export const hostLink = { outer: '198.18.78.1', inner: '198.18.78.2', bits: 30 }

export const ports = {
  postgres: 5432,
  patroni: 8008,
  etcd: 2379,
  parley: 7007,
  balancer: 8080,
  balancerState: 8404,
  simulator: 7008,
  /** Proxy that records requests to the platform and forwards them. */
  platform: 7100,
  receiver: 7200,
} as const

export const urlOf = (machine: Machine, port: number): string => `http://${addressOf(machine)}:${port}`
export const outerUrl = `http://${hostLink.inner}:${ports.balancer}`
