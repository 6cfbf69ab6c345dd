import { Button } from '@mantine/core'
import { IconClock, IconNote, IconSend2, IconTemplate } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { t } from '../../text/index.ts'
import { Chip } from '../../ui/Chip.tsx'
import { formatTime } from '../../ui/format/time.ts'
import { Tip } from '../../ui/overlay/Tip.tsx'
import { enterSends, isTouch, useStoredToggle } from '../../ui/stored-toggles.ts'
import styles from './Composer.module.css'
import type { Mode } from './drafts.ts'
import type { ComposerState } from './use-composer.ts'

interface ComposeFootProps {
  composer: ComposerState
  setMode(mode: Mode): void
  /** Null while only a template can be sent. */
  toggleTemplate: (() => void) | null
  /** Buttons for attachments. */
  children: ReactNode
}

const noteColor = () => ({
  root: { '--button-bg': 'var(--attention)', '--button-hover': 'var(--n11)', '--button-color': 'var(--n1)' },
})
const plainColor = () => ({ root: {} })

/** Line under the field: mode, response window and the send button. */
export function ComposeFoot({ composer, setMode, toggleTemplate, children }: ComposeFootProps) {
  const { surface, windowState, value, max, hasContent, isSending, obstacle, submit } = composer
  const { mode } = composer.draft
  const isField = surface === 'reply' || surface === 'note'
  const over = value.trim().length - max
  const templateLabel = surface === 'template' ? t.compose.backToText : t.compose.template
  const submitLabel = mode === 'note' ? t.compose.addNote : t.compose.send
  return (
    <div className={styles.foot}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset adds a border and a legend */}
      <div className={styles.modes} role="group" aria-label={t.compose.mode}>
        {(['reply', 'note'] as const).map((one) => (
          <button key={one} type="button" aria-pressed={one === mode} onClick={() => setMode(one)}>
            {t.compose.modes[one]}
          </button>
        ))}
      </div>
      {surface === 'reply' && children}
      {(surface === 'reply' || surface === 'template') && toggleTemplate !== null && (
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          fw={400}
          className={styles.template}
          aria-label={templateLabel}
          leftSection={<IconTemplate size={16} />}
          onClick={toggleTemplate}
        >
          <span className={surface === 'template' ? undefined : styles.hideOnPhone}>{templateLabel}</span>
        </Button>
      )}
      {surface === 'reply' && windowState.state === 'closing' && (
        <Tip label={t.compose.closesHelp} multiline w={260}>
          <span>
            <Chip tone={windowState.isUrgent ? 'attention' : 'plain'}>
              <IconClock size={12} aria-hidden="true" />
              {t.compose.closesIn({ hours: windowState.hours, minutes: windowState.minutes })}
              <span className={styles.hideOnPhone}>{t.compose.closesAt({ time: formatTime(windowState.at) })}</span>
            </Chip>
          </span>
        </Tip>
      )}
      <span className={styles.space} />
      {isField && over > 0 && (
        <span className={styles.over} role="alert">
          {t.compose.tooLong({ over })}
        </span>
      )}
      {isField && !isTouch() && <EnterChoice />}
      {isField && (
        <Button
          size="compact-md"
          vars={mode === 'note' ? noteColor : plainColor}
          className={styles.send}
          aria-label={submitLabel}
          leftSection={mode === 'note' ? <IconNote size={16} /> : <IconSend2 size={16} />}
          disabled={!hasContent || over > 0 || (obstacle !== null && mode === 'reply')}
          loading={isSending}
          onClick={submit}
        >
          <span className={styles.hideOnPhone}>{submitLabel}</span>
        </Button>
      )}
    </div>
  )
}

function EnterChoice() {
  const isSending = useStoredToggle(enterSends)
  const enterText = isSending ? t.compose.enterSends : t.compose.enterBreaks
  return (
    <button
      type="button"
      className={`${styles.muted} ${styles.hideOnPhone}`}
      title={t.compose.enterHelp}
      aria-label={`${enterText}. ${t.compose.enterHelp}`}
      onClick={() => enterSends.set(!isSending)}
    >
      {enterText}
    </button>
  )
}
