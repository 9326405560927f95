// The whole of ELK; it answers messages by itself. A file of our own, so that the policy `worker-src 'self'` is enough.
import 'elkjs/lib/elk-worker.min.js';
