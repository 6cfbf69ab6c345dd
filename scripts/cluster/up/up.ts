import { apis, databases, services } from '../machines.ts'
import { until } from '../processes.ts'
import { makeDatabase, startDatabase, startEtcd, waitUntilSettled } from './databases.ts'
import { listServingApis, ready, startBalancer, startOutside, startService } from './services.ts'

/** Starts all parts of the cluster on existing machines; must run in the hub namespace. */
export async function startAll(log: (words: string) => void): Promise<void> {
  log('Starting etcd and three databases')
  startEtcd()
  for (const name of databases) startDatabase(name)
  log(`${await waitUntilSettled(180_000)} is the primary`)
  await makeDatabase()
  log('Starting the platform, two APIs and two workers')
  await startOutside()
  for (const name of services) startService(name)
  for (const name of services) await ready(name, 120_000)
  startBalancer()
  await until(async () => (await listServingApis()).length === apis.length, 'both APIs at the load balancer')
}
