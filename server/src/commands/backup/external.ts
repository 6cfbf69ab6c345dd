import type { Config } from '../../config.ts'

/** What backs an external database up: tools that know more of it than we do. */
export function externalAdvice({ database, media }: Config): string {
  const url = withoutPassword(database.directUrl ?? database.url ?? '')
  const files =
    media.kind === 'folder'
      ? `cp -a ${media.folder} /backup/parley-files`
      : `aws s3 sync s3://${media.bucket}/${media.prefix} /backup/parley-files`
  return [
    'Nothing was backed up: the database is not Parley’s own, and PostgreSQL’s tools do it better.',
    'A copy of one moment, while the service runs; the password comes from PGPASSWORD:',
    `  pg_dump --format=custom --file=parley.dump "${url}"`,
    `  ${files}    (after the dump, so that every file it names is there)`,
    'To any moment: pgBackRest, or pg_basebackup with an archive of the write-ahead log.',
    'PARLEY_MASTER_KEY is in neither: keep it apart. To restore into an empty database, and to prove that it is whole:',
    '  pg_restore --no-owner --dbname="$DATABASE_URL" parley.dump',
    '  parley prove',
  ].join('\n')
}

function withoutPassword(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null) return 'postgres://…'
  url.password = ''
  url.searchParams.delete('password')
  return url.href
}
