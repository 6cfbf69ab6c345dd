import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Consent, ConsentDecision, ConsentPurpose } from '../data/lead/consents.ts'
import { t } from '../text/index.ts'
import { Chip } from '../ui/Chip.tsx'
import { formatDateTime } from '../ui/format/time.ts'
import { Confirm } from '../ui/overlay/Confirm.tsx'
import { showUndoToast } from '../ui/overlay/toasts.tsx'
import styles from './MarketingConsent.module.css'

interface MarketingConsentProps {
  purpose?: ConsentPurpose
  consent: Consent | null
  /** Resolves to whether it was recorded. */
  set(decision: ConsentDecision): Promise<boolean>
  undo(): void
}

/** What a person has decided about marketing or other templates, and buttons to record that they decided otherwise. */
export function MarketingConsent({ purpose = 'marketing', consent, set, undo }: MarketingConsentProps) {
  const [asked, setAsked] = useState<ConsentDecision | null>(null)
  const texts = t.consent
  const own = purpose === 'marketing' ? texts : texts.updates
  const record = async (decision: ConsentDecision) => {
    const isDone = await set(decision)
    setAsked(null)
    if (isDone) showUndoToast(decision === 'opted_out' ? own.savedOut : own.savedIn, undo)
  }
  return (
    <>
      <p className={styles.state}>
        {consent === null ? (
          <span className={styles.muted}>{texts.none}</span>
        ) : (
          <>
            <Chip tone={consent.decision === 'opted_out' ? 'attention' : 'good'}>{texts[consent.decision]}</Chip>
            <span className={styles.muted}>
              {texts.since({ source: texts.sources[consent.source], at: formatDateTime(consent.at) })}
            </span>
          </>
        )}
      </p>
      <div className={styles.buttons}>
        {(['opted_out', 'opted_in'] as const)
          .filter((decision) => consent?.decision !== decision)
          .map((decision) => (
            <Button key={decision} variant="default" size="compact-sm" onClick={() => setAsked(decision)}>
              {decision === 'opted_out' ? texts.optOut : texts.optIn}
            </Button>
          ))}
      </div>
      {asked !== null && (
        <Confirm
          title={asked === 'opted_out' ? own.confirmOut : own.confirmIn}
          action={asked === 'opted_out' ? own.confirmOutAction : own.confirmInAction}
          isReversible
          run={() => record(asked)}
          close={() => setAsked(null)}
        >
          {asked === 'opted_out' ? own.confirmOutHelp : own.confirmInHelp}
        </Confirm>
      )}
    </>
  )
}
