import ctypes, os, signal, socket, sys, threading

libc = ctypes.CDLL(None, use_errno=True)
out, me = os.environ["OUT"], os.getpid()


def tell(name, value):
    print(f"{name}={value}")


def serve(listener):
    while True:
        connection, _ = listener.accept()
        connection.sendall(b"hello")
        connection.close()


def echo(box):
    while True:
        data, sender = box.recvfrom(100)
        if sender:
            box.sendto(data, sender)


def start(work, it):
    threading.Thread(target=work, args=(it,), daemon=True).start()


def listen(family, address):
    listener = socket.socket(family)
    listener.bind(address)
    listener.listen()
    start(serve, listener)
    return listener.getsockname()


# Whoever may trace it by all other rules may do so here, also where only parents trace their children.
libc.prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
# A signal that stays, so that others can see that it came.
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
memory = ctypes.create_string_buffer(b"the-hidden-words")
tell("ADDRESS", ctypes.addressof(memory))
tell("FD", os.open(os.environ["ENV"], os.O_RDONLY))
tell("TCP", listen(socket.AF_INET, ("127.0.0.1", 0))[1])
try:
    tell("TCP6", listen(socket.AF_INET6, ("::1", 0))[1])
except OSError:
    tell("TCP6", 1)
box = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
box.bind(("127.0.0.1", 0))
start(echo, box)
tell("UDP", box.getsockname()[1])
listen(socket.AF_UNIX, out + "/stream")
listen(socket.AF_UNIX, f"\0rail-{me}")
tell("ABSTRACT", f"rail-{me}")
letters = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
letters.bind(out + "/letters")
start(echo, letters)
master, slave = os.openpty()
tell("TERMINAL", os.ttyname(slave))
shared = f"/dev/shm/rail-{me}"
with open(shared, "w") as file:
    file.write("the-hidden-words")
tell("SHARED", shared)
segment = libc.shmget(me, 4096, 0o1600)
tell("KEY", me)
queue = f"/rail-{me}".encode()
libc.mq_open(queue, os.O_CREAT | os.O_RDWR, 0o600, None)
tell("QUEUE", queue.decode())
print("ready", flush=True)
sys.stdin.read()
os.unlink(shared)
libc.shmctl(segment, 0, None)
libc.mq_unlink(queue)
