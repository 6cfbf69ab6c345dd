import { useState } from 'react'
import { t } from '../text/index.ts'
import { Dialog } from '../ui/overlay/Dialog.tsx'
import { ShortcutHint } from '../ui/shortcuts.ts'
import { allShortcuts, type ShortcutGroup } from './all-shortcuts.ts'
import styles from './ShortcutSheet.module.css'

export default function ShortcutSheet({ close }: { close(): void }) {
  const [{ here, elsewhere }] = useState(allShortcuts)
  const { title, help, otherPages: elsewhereTitle } = t.common.keys
  return (
    <Dialog close={close} title={title} size={720}>
      <p className={styles.help}>{help}</p>
      <Groups groups={here} />
      <p className={styles.part}>{elsewhereTitle}</p>
      <Groups groups={elsewhere} />
    </Dialog>
  )
}

function Groups({ groups }: { groups: readonly ShortcutGroup[] }) {
  return (
    <div className={styles.groups}>
      {groups.map(({ title, keys }) => (
        <section key={title}>
          <h3 className={styles.title}>{title}</h3>
          <dl className={styles.keys}>
            {keys.map((one) => (
              <div key={one.keys} className={styles.line}>
                <dt>
                  <ShortcutHint keys={one.keys} />
                </dt>
                <dd>{one.label}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  )
}
