# dpheatmap with every format and engine of one machine, and compiled kernels. It works on the folder that is mounted at /data:
#   docker build -t dpheatmap .
#   docker run --rm --network none -v "$PWD:/data" dpheatmap release trips.csv --epsilon 1 ...
FROM python:3.13-slim AS build
COPY . /src
RUN python -m venv /opt/dpheatmap && /opt/dpheatmap/bin/pip install --no-cache-dir "/src[app,collect,geo,plot,postgres]" \
    && /opt/dpheatmap/bin/python /src/scripts/kernels.py /opt/dpheatmap/lib/python3.13/site-packages/dpheatmap/_kernels

FROM python:3.13-slim
COPY --from=build /opt/dpheatmap /opt/dpheatmap
RUN useradd --create-home people && mkdir /data && chown people /data
USER people
WORKDIR /data
ENV PATH=/opt/dpheatmap/bin:$PATH
ENTRYPOINT ["dpheatmap"]
