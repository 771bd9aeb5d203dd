import { Unzlib } from "fflate";

const FLUSH = [0x00, 0x00, 0xff, 0xff];

/** Decompresses a zlib-stream: one stream for the whole connection, flushed at the end of each payload. */
export class ZlibStream {
  private readonly decoder = new TextDecoder();
  private text = "";
  private readonly stream = new Unzlib((chunk) => {
    this.text += this.decoder.decode(chunk, { stream: true });
  });

  /** Returns the text of a payload once its last part has arrived, else null. Throws for invalid data. */
  push(data: Uint8Array): string | null {
    this.stream.push(data);
    if (!endsWithFlush(data)) {
      return null;
    }
    const payload = this.text;
    this.text = "";
    return payload;
  }
}

function endsWithFlush(data: Uint8Array): boolean {
  return data.length >= 4 && FLUSH.every((byte, index) => data[data.length - 4 + index] === byte);
}
