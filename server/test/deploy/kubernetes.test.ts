import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { gaugesOf } from '../../src/app/gauges.ts'
import { loadConfig } from '../../src/config.ts'
import { paths } from '../../src/http/monitoring/health.ts'
import { loadSettings } from '../support/deploy/settings.ts'
import { allManifests, folder, kustomization, type Manifest, read } from './manifests.ts'

const others = ['kustomization.yaml', 'secret.example.yaml', 'metrics-adapter.example.yaml']
// biome-ignore lint/suspicious/noExplicitAny: manifests of every shape; `kubernetes.slow.test.ts` checks them
type Any = any
const manifests: (Manifest & Any)[] = allManifests
const ofKind = (kind: string): Any[] => manifests.filter((one) => one.kind === kind)
const named = (kind: string, name: string): Any =>
  ofKind(kind).find(({ metadata }) => metadata.name === name) ?? assert.fail(`${kind} ${name} is missing`)
const parts = ['api', 'worker']
const podOf = (part: string) => named('Deployment', `parley-${part}`).spec.template.spec

test('all manifests except examples are applied together, in one namespace', () => {
  const files = globSync('*.yaml', { cwd: folder }).filter((name) => !others.includes(name))
  assert.deepEqual(files.sort(), [...kustomization.resources].sort())
  for (const { kind, metadata } of manifests) {
    if (kind !== 'Namespace') assert.equal(metadata.namespace, kustomization.namespace, `${kind} ${metadata.name}`)
  }
})

test('the service knows all settings, and their secrets are in the secret', async () => {
  const { data } = named('ConfigMap', 'parley')
  const config = await loadSettings(data)
  assert.equal(config.media.kind, 's3')
  assert.ok(config.masterKey)
  const secret = named('Secret', 'parley')
  const files = Object.entries<string>(data).filter(([name]) => name.endsWith('_FILE'))
  assert.deepEqual(
    files.map(([, path]) => path.replace('/run/secrets/parley/', '')).sort(),
    Object.keys(secret.stringData).sort(),
  )
  for (const part of parts) {
    const { volumes, containers } = podOf(part)
    assert.deepEqual(containers[0].envFrom, [{ configMapRef: { name: 'parley' } }])
    const mount = containers[0].volumeMounts.find(({ mountPath }: Any) => mountPath === '/run/secrets/parley')
    assert.equal(volumes.find(({ name }: Any) => name === mount.name).secret.secretName, secret.metadata.name)
  }
})

test('each part starts in its role, and its probes use existing paths and its port', () => {
  for (const part of parts) {
    const [container] = podOf(part).containers
    assert.deepEqual(container.args, ['serve', '--only', part])
    assert.deepEqual(container.ports, [{ name: 'http', containerPort: loadConfig({}).http.port }])
    const { startupProbe, readinessProbe, livenessProbe } = container
    const asked = [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet)
    assert.deepEqual(
      asked,
      [paths.alive, paths.ready, paths.alive].map((path) => ({ path, port: 'http' })),
    )
  }
})

test('pods run as non-root, with a read-only root file system and no capabilities', () => {
  for (const part of parts) {
    const pod = podOf(part)
    const user = /useradd --uid (\d+)/.exec(readFileSync(join(folder, '../image/base.sh'), 'utf8'))?.[1]
    assert.equal(pod.securityContext.runAsUser, Number(user))
    assert.equal(pod.securityContext.runAsNonRoot, true)
    assert.equal(pod.automountServiceAccountToken, false)
    const { readOnlyRootFilesystem, allowPrivilegeEscalation, capabilities } = pod.containers[0].securityContext
    assert.deepEqual([readOnlyRootFilesystem, allowPrivilegeEscalation, capabilities.drop], [true, false, ['ALL']])
    const mounts = pod.containers[0].volumeMounts.map(({ mountPath }: Any) => mountPath)
    assert.deepEqual(mounts.sort(), ['/run/secrets/parley', '/tmp', '/var/lib/parley'])
  }
})

test('selectors match the pods of their part', () => {
  for (const part of parts) {
    const { template, selector } = named('Deployment', `parley-${part}`).spec
    const { labels } = template.metadata
    assert.deepEqual(selector.matchLabels, labels)
    assert.deepEqual(named('PodDisruptionBudget', `parley-${part}`).spec.selector.matchLabels, labels)
    assert.equal(named('HorizontalPodAutoscaler', `parley-${part}`).spec.scaleTargetRef.name, `parley-${part}`)
    assert.deepEqual(template.spec.topologySpreadConstraints[0].labelSelector.matchLabels, labels)
  }
  const { labels } = named('Deployment', 'parley-api').spec.template.metadata
  const service = named('Service', 'parley')
  assert.deepEqual(service.spec.selector, labels)
  assert.deepEqual(named('NetworkPolicy', 'parley-api').spec.podSelector.matchLabels, labels)
  const [{ backend }] = named('Ingress', 'parley').spec.rules[0].http.paths
  assert.equal(backend.service.name, service.metadata.name)
  assert.equal(backend.service.port.name, service.spec.ports[0].name)
})

test('workers scale with the delivery lag, by a metric that the service exports', () => {
  const none = {} as Parameters<typeof gaugesOf>[0]
  const gauges = gaugesOf(none, 1).gauges
  const [, { external }] = named('HorizontalPodAutoscaler', 'parley-worker').spec.metrics
  const gauge = gauges.find(({ name }) => name === external.metric.name)
  assert.deepEqual(gauge?.labelNames, Object.keys(external.metric.selector.matchLabels))
  const [rule] = parse(read('metrics-adapter.example.yaml')).rules.external
  assert.ok(rule.seriesQuery.startsWith(`${external.metric.name}{`))
})
