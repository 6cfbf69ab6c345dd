import { Button, Group, Select, Stack } from '@mantine/core'
import { useState } from 'react'
import { restoreVersion, useInvalidateInstructions, type Version, type Versions } from '../../data/team/instructions.ts'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatDateTime, formatNumber } from '../../ui/format/time.ts'
import { Confirm } from '../../ui/overlay/Confirm.tsx'
import { Dialog } from '../../ui/overlay/Dialog.tsx'
import { showError, showToast } from '../../ui/overlay/toasts.tsx'
import { Section } from '../../ui/page/Section.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { useAuthorName } from './author.ts'
import { DiffView } from './DiffView.tsx'
import styles from './Instructions.module.css'

/** Published versions, newest first: who, when, why; compare any two, restore one. */
export function History({ data, mayChange }: { data: Versions; mayChange: boolean }) {
  const texts = t.instructions
  const [compared, setCompared] = useState<Version | null>(null)
  const [restoring, setRestoring] = useState<Version | null>(null)
  const { versions } = data
  return (
    <Section title={texts.history}>
      {versions.length === 0 ? (
        <p className={styles.hint}>{texts.noVersion}</p>
      ) : (
        <ol className={styles.versions} reversed>
          {versions.map((version, n) => (
            <li key={version.id}>
              <VersionFacts version={version} isInForce={n === 0} />
              <Group gap={8}>
                <Button
                  size="compact-sm"
                  variant="default"
                  onClick={() => setCompared(version)}
                  aria-label={texts.compareOf({ n: formatNumber(version.version) })}
                >
                  {texts.compare}
                </Button>
                {mayChange && n > 0 && (
                  <Button
                    size="compact-sm"
                    variant="default"
                    onClick={() => setRestoring(version)}
                    aria-label={texts.restoreOf({ n: formatNumber(version.version) })}
                  >
                    {texts.restore}
                  </Button>
                )}
              </Group>
            </li>
          ))}
        </ol>
      )}
      {compared !== null && <CompareDialog data={data} version={compared} close={() => setCompared(null)} />}
      {restoring !== null && <RestoreDialog data={data} version={restoring} close={() => setRestoring(null)} />}
    </Section>
  )
}

function VersionFacts({ version, isInForce }: { version: Version; isInForce: boolean }) {
  const texts = t.instructions
  const nameOf = useAuthorName()
  const { version: number, actor, publishedAt, note, restores, text } = version
  const more = [
    ...(restores === null ? [] : [texts.restored({ n: formatNumber(restores) })]),
    ...(text === null ? [texts.removed] : []),
    ...(note === null ? [] : [note]),
  ]
  return (
    <div className={styles.facts}>
      <strong>{texts.version({ n: formatNumber(number) })}</strong> {isInForce && <Chip tone="good">{texts.now}</Chip>}
      <p>
        {nameOf(actor)} · <time dateTime={publishedAt}>{formatDateTime(publishedAt)}</time>
      </p>
      {more.length > 0 && <p>{more.join(' · ')}</p>}
    </div>
  )
}

interface VersionDialogProps {
  data: Versions
  version: Version
  close(): void
}

const draftValue = 'draft'

/** Compares a version with the one before, or any other two. */
function CompareDialog({ data: { draft, versions }, version, close }: VersionDialogProps) {
  const texts = t.instructions
  const all = new Map<string, string | null>([
    ...(draft === null ? [] : [[draftValue, draft.text] as const]),
    ...versions.map((one) => [String(one.version), one.text] as const),
  ])
  const previous = versions.find((one) => one.version < version.version)
  const [from, setFrom] = useState(String(previous?.version ?? version.version))
  const [to, setTo] = useState(String(version.version))
  const options = [...all.keys()].map((value) => ({
    value,
    label: value === draftValue ? texts.draft : texts.version({ n: formatNumber(Number(value)) }),
  }))
  const choice = { data: options, allowDeselect: false, style: { flex: '1 1 160px' } }
  return (
    <Dialog title={texts.difference} close={close} size="lg">
      <Stack gap="sm">
        <Group gap="sm">
          <Select {...choice} label={texts.from} value={from} onChange={(value) => setFrom(value ?? from)} />
          <Select {...choice} label={texts.to} value={to} onChange={(value) => setTo(value ?? to)} />
        </Group>
        <DiffView
          before={previous === undefined && from === to ? null : (all.get(from) ?? null)}
          after={all.get(to) ?? null}
        />
      </Stack>
    </Dialog>
  )
}

function RestoreDialog({ data: { versions }, version, close }: VersionDialogProps) {
  const texts = t.instructions
  const workspaceId = useWorkspaceId()
  const changed = useInvalidateInstructions(workspaceId)
  const [newest] = versions
  const restore = () =>
    restoreVersion(workspaceId, version, newest?.version ?? 0)
      .then((restored) => {
        close()
        showToast(texts.published({ n: restored.version.version }))
      }, showError)
      .finally(changed)
  return (
    <Confirm
      title={texts.restoreConfirm({ n: formatNumber(version.version) })}
      action={texts.restore}
      isReversible
      run={restore}
      close={close}
    >
      <Stack gap="sm">
        <p className={styles.hint}>{texts.restoreHelp}</p>
        <DiffView before={newest?.text ?? null} after={version.text} />
      </Stack>
    </Confirm>
  )
}
