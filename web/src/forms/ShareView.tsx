import { Button, Text } from '@mantine/core'
import { IconDownload, IconExternalLink } from '@tabler/icons-react'
import type { Form } from '../data/forms.ts'
import { t } from '../text/index.ts'
import { CodeBlock } from '../ui/CodeBlock.tsx'
import { Copyable } from '../ui/Copyable.tsx'
import { PageBody } from '../ui/page/PageBody.tsx'
import { QrCode, saveQrCode } from '../ui/QrCode.tsx'
import styles from './ShareView.module.css'

/** Link, embed code and QR code of a form. */
export function ShareView({ form }: { form: Form }) {
  const frame = `<iframe src="${form.url}" title="${escaped(form.title)}" width="100%" height="640" style="border:0"></iframe>`
  return (
    <PageBody narrow>
      <div className={styles.cards}>
        <section className={styles.card}>
          <h2>{t.forms.link}</h2>
          <Text size="sm">{t.forms.linkHelp}</Text>
          <Copyable value={form.url} label={t.forms.link} />
          {form.active && (
            <Button
              component="a"
              href={form.url}
              target="_blank"
              rel="noopener"
              variant="default"
              leftSection={<IconExternalLink size={16} />}
            >
              {t.forms.visit}
            </Button>
          )}
        </section>
        <section className={styles.card}>
          <h2>{t.forms.qr}</h2>
          <div className={styles.qr}>
            <QrCode value={form.url} label={t.forms.qrOf({ name: form.name })} size={180} />
            <Button
              variant="default"
              leftSection={<IconDownload size={16} />}
              onClick={() => saveQrCode(form.url, form.slug)}
            >
              {t.forms.qrSave}
            </Button>
          </div>
        </section>
        <section className={styles.card}>
          <h2>{t.forms.embed}</h2>
          <h3>{t.forms.embedForm}</h3>
          <Text size="sm">{t.forms.embedFormHelp}</Text>
          <CodeBlock label={t.forms.embedForm} value={form.embedHtml} />
          <h3>{t.forms.embedFrame}</h3>
          <Text size="sm">{t.forms.embedFrameHelp}</Text>
          <CodeBlock label={t.forms.embedFrame} value={frame} />
        </section>
      </div>
    </PageBody>
  )
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => entities[sign] ?? sign)
