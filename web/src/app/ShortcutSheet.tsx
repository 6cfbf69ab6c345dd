import { Modal } from '@mantine/core'
import { useState } from 'react'
import { t } from '../text/index.ts'
import { activeKeys, KeyHint } from '../ui/keys.ts'
import styles from './ShortcutSheet.module.css'

/** All keys that do something at this moment. */
export default function ShortcutSheet({ close }: { close(): void }) {
  const [keys] = useState(activeKeys)
  const groups = [...new Set(keys.map(({ group }) => group))].reverse()
  return (
    <Modal
      opened
      onClose={close}
      title={t.common.keys.title}
      size={640}
      closeButtonProps={{ 'aria-label': t.common.close }}
    >
      <div className={styles.groups}>
        {groups.map((group) => (
          <section key={group}>
            <h3 className={styles.title}>{group}</h3>
            <dl className={styles.keys}>
              {keys
                .filter((one) => one.group === group)
                .map((one) => (
                  <div key={one.keys} className={styles.line}>
                    <dt>
                      <KeyHint keys={one.keys} />
                    </dt>
                    <dd>{one.label}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  )
}
