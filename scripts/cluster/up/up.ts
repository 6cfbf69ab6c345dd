import { apis, databases, services } from '../machines.ts'
import { until } from '../processes.ts'
import { makeDatabase, settled, startDatabase, startKeeper } from './databases.ts'
import { ready, serving, startBalancer, startOutside, startService } from './services.ts'

/** Starts all parts of the cluster on existing machines; must run in the hub namespace. */
export async function startAll(tell: (words: string) => void): Promise<void> {
  tell('Starting etcd and three databases')
  startKeeper()
  for (const name of databases) startDatabase(name)
  tell(`${await settled(180_000)} is the primary`)
  await makeDatabase()
  tell('Starting the platform, two APIs and two workers')
  await startOutside()
  for (const name of services) startService(name)
  for (const name of services) await ready(name, 120_000)
  startBalancer()
  await until(async () => (await serving()).length === apis.length, 'both APIs at the load balancer')
}
