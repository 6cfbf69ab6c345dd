import { existsSync } from 'node:fs'

export type LoadedSimulator = NonNullable<Awaited<ReturnType<typeof loadSimulator>>>

/** Loads the simulator, which is a tool for development; null where the service was installed from a package, which has none. */
export async function loadSimulator() {
  if (!existsSync(new URL('../../../../simulator', import.meta.url))) return null
  const [{ startSimulator }, { newNumber, newPartnerSide }, { seedDemo }] = await Promise.all([
    import('../../../../simulator/src/simulator.ts'),
    import('../../../../simulator/src/world.ts'),
    import('../../../../simulator/src/demo/seed-demo.ts'),
  ])
  return { startSimulator, newNumber, newPartnerSide, seedDemo }
}
