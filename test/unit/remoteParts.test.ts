import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Role, TaskState, type Artifact, type Message, type Part, type Task } from '@a2a-js/sdk';
import type { Reads } from '../../src/core/ports.ts';
import { ArtifactFolder } from '../../src/hub/remotes/artifactFolder.ts';
import { speechOfMessage, speechOfTask } from '../../src/transports/a2a/remoteParts.ts';
import { RemotePicture } from '../../src/transports/a2a/remotePicture.ts';
import { bytesPart, dataPart, textPart, urlPart } from '../support/a2a/remoteAgent.ts';
import { tempFolder } from '../support/tempFolder.ts';

const artifact = (parts: Part[], more: Partial<Artifact> = {}): Artifact => ({
  artifactId: 'a1',
  name: '',
  description: '',
  parts,
  metadata: undefined,
  extensions: [],
  ...more,
});

const message = (parts: Part[], more: Partial<Message> = {}): Message => ({
  messageId: 'm',
  contextId: 'c',
  taskId: '',
  role: Role.ROLE_AGENT,
  parts,
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
  ...more,
});

const task = (artifacts: Artifact[], said?: Message, state = TaskState.TASK_STATE_COMPLETED): Task => ({
  id: 't',
  contextId: 'c',
  status: { state, message: said, timestamp: undefined },
  artifacts,
  history: [],
  metadata: undefined,
});

const nowhere = (): undefined => undefined;

describe('what an agent elsewhere says', () => {
  test('is the text of what it made, and of its last word', () => {
    const made = [artifact([textPart('one'), textPart('two')]), artifact([textPart('three')])];
    const { text, a2a } = speechOfTask(task(made, message([textPart('done')])), nowhere);
    assert.equal(text, 'one\ntwo\n\nthree\n\ndone');
    assert.deepEqual(a2a, { task: 't', context: 'c' });
  });

  test('is said once if it was said twice', () => {
    assert.equal(speechOfTask(task([artifact([textPart('yes')])], message([textPart('yes')])), nowhere).text, 'yes');
  });

  test('has everything else beside it', () => {
    const parts = [textPart('see'), dataPart({ n: [1] }), urlPart('https://x/y'), bytesPart(3)];
    const { text, a2a } = speechOfTask(
      { ...task([artifact(parts, { name: 'report', metadata: { k: 1 } })]), metadata: { cost: 2 } },
      nowhere,
    );
    assert.equal(text, 'see');
    assert.deepEqual(a2a, {
      task: 't',
      context: 'c',
      artifacts: [
        {
          id: 'a1',
          name: 'report',
          parts: [
            { data: { n: [1] } },
            { url: 'https://x/y' },
            { raw: Buffer.alloc(3, 7).toString('base64'), filename: '../../picture one.png', mediaType: 'image/png' },
          ],
          metadata: { k: 1 },
        },
      ],
      metadata: { cost: 2 },
    });
  });

  test('says so if it has no words', () => {
    assert.match(speechOfMessage(message([dataPart(1)]), nowhere).text, /without a text/);
  });

  test('is well-formed, whatever came', () => {
    assert.equal(speechOfMessage(message([textPart('a\ud800b')]), nowhere).text, 'a\ufffdb');
  });
});

describe('a task that is told bit by bit', () => {
  const update = (state: TaskState, said?: Message) =>
    ({
      $case: 'statusUpdate',
      value: {
        taskId: 't',
        contextId: 'c',
        status: { state, message: said, timestamp: undefined },
        metadata: undefined,
      },
    }) as const;
  const piece = (parts: Part[], append: boolean, artifactId = 'a1') =>
    ({
      $case: 'artifactUpdate',
      value: {
        taskId: 't',
        contextId: 'c',
        artifact: artifact(parts, { artifactId }),
        append,
        lastChunk: false,
        metadata: undefined,
      },
    }) as const;

  test('is put together', () => {
    const picture = new RemotePicture();
    picture.take({ $case: 'task', value: task([], undefined, TaskState.TASK_STATE_SUBMITTED) });
    assert.equal(picture.standing, 'going');
    assert.equal(picture.state, 'submitted');
    picture.take(piece([textPart('a')], false));
    picture.take(piece([textPart('b')], true));
    picture.take(piece([dataPart(1)], true));
    picture.take(piece([textPart('other')], false, 'a2'));
    picture.take(piece([textPart('another')], false, 'a2'));
    picture.take(update(TaskState.TASK_STATE_INPUT_REQUIRED, message([textPart('?')])));
    assert.equal(picture.standing, 'asking');
    assert.equal(picture.state, 'input-required');
    picture.take(update(TaskState.TASK_STATE_COMPLETED));
    assert.equal(picture.standing, 'ended');
    assert.ok(picture.task);
    assert.equal(speechOfTask(picture.task, nowhere).text, 'ab\n\nanother');
  });

  test('may begin with an update', () => {
    const picture = new RemotePicture();
    picture.take(update(TaskState.TASK_STATE_WORKING));
    assert.equal(picture.task?.id, 't');
    assert.equal(picture.context, 'c');
  });

  test('has an id', () => {
    for (const id of ['', undefined, 5, 'x'.repeat(1_001)]) {
      const value = { ...task([]), id: id as string };
      assert.throws(() => new RemotePicture().take({ $case: 'task', value }), /has no id/);
    }
  });

  test('is not collected without end', () => {
    const picture = new RemotePicture();
    const chunk = textPart('x'.repeat(1_000_000));
    assert.throws(() => {
      for (let n = 0; n < 40; n++) picture.take(piece([structuredClone(chunk)], true));
    }, /larger than/);
  });
});

describe('what does not fit into a message', () => {
  const folderOf = (home: string, has: (seq: number) => boolean = () => true): ArtifactFolder =>
    new ArtifactFolder(home, { message: (seq: number) => (has(seq) ? {} : undefined) } as unknown as Reads);

  test('is in private files, the same for the same saying', (t) => {
    const home = tempFolder(t);
    const folder = folderOf(home);
    const speak = () =>
      folder.fit(36, 'key', (keep) => {
        const path = keep(Buffer.from([1, 2]), '..\\..\\.evil name?.png');
        return { text: 'é'.repeat(600_000), a2a: { task: 't', context: 'c', big: 'x'.repeat(1_100_000), path } };
      });
    const { text, data, files } = speak();
    const [bytes = '', whole = '', json = ''] = files;
    assert.equal(files.length, 3);
    assert.match(bytes, /m10-[0-9a-f]{8}-1-evil_name_\.png$/);
    assert.deepEqual([...readFileSync(bytes)], [1, 2]);
    assert.equal(readFileSync(whole, 'utf8'), 'é'.repeat(600_000));
    assert.ok(text.includes('all 1200000 bytes') && text.includes(whole));
    assert.deepEqual(data, { a2a: { task: 't', context: 'c', file: json } });
    const { a2a } = JSON.parse(readFileSync(json, 'utf8')) as { a2a: { path: string } };
    assert.equal(a2a.path, bytes);
    for (const file of files) assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(join(home, 'artifacts')).mode & 0o777, 0o700);
    assert.deepEqual(speak().files, files);
  });

  test('nor what is nested so deeply that nobody could read it', (t) => {
    let deep: unknown = 1;
    for (let n = 0; n < 100; n++) deep = [deep];
    const { data, files } = folderOf(tempFolder(t)).fit(1, 'key', () => ({ text: 'x', a2a: { deep } }));
    assert.deepEqual(data, { a2a: { file: files[0] } });
  });

  test('leaves room for no more files than a message has', (t) => {
    const { files } = folderOf(tempFolder(t)).fit(1, 'key', (keep) => {
      for (let n = 0; n < 30; n++) keep(Buffer.from([n]), 'x');
      return { text: 'x', a2a: {} };
    });
    assert.equal(files.length, 18);
  });

  test('goes with its message', (t) => {
    const home = tempFolder(t);
    const folder = folderOf(home, (seq) => seq === 2);
    const [gone = ''] = folder.fit(1, 'key', (keep) => ({ text: keep(Buffer.from('1'), 'x') ?? '', a2a: {} })).files;
    const [kept = ''] = folder.fit(2, 'key', (keep) => ({ text: keep(Buffer.from('2'), 'x') ?? '', a2a: {} })).files;
    const foreign = join(home, 'artifacts', 'notes.txt');
    writeFileSync(foreign, '');
    folder.sweep();
    assert.equal(statSync(gone, { throwIfNoEntry: false }), undefined);
    assert.ok(statSync(kept) && statSync(foreign));
  });
});
